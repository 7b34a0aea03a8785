//! The states of a turn, and which step leads from one to the next. Only logs that are committed by
//! turns need them.
//!
//! | turn | [`Step::Question`] | [`Step::Answer`] | [`Step::Addition`] |
//! |---|---|---|---|
//! | [`Turn::Empty`] | `Asked` | `Answered` | `Asked` |
//! | [`Turn::Asked`] | `Asked` | `Answered` | `Asked` |
//! | [`Turn::Answered`] | commit, then `Asked` | `Answered` | `Answered` |
//!
//! A commit leads from any state to `Empty`. [`Turn::ends_before`] alone decides where a message
//! ends a turn; [`Turn::after`] alone decides what the message makes of the turn it is added to.

use contextree_provider::read::Role;

/// The turn that is being filled: what the next commit will contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing was added since the last commit, so there is nothing to commit.
    #[default]
    Empty,
    /// There is content, but no answer of the model yet. Further questions join the turn.
    Asked,
    /// The model has answered. Tool results and further answers join the turn.
    Answered,
}

/// What a message means for the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The user says something.
    Question,
    /// The model says something, calls tools, or both.
    Answer,
    /// Anything else: tool results with any role, and system messages.
    Addition,
}

impl Step {
    /// Returns the step of a message. Some providers send tool results with the role of the user;
    /// such a message is not a question.
    pub(super) fn of(role: Role, has_results: bool) -> Step {
        match role {
            Role::User if !has_results => Step::Question,
            Role::Assistant => Step::Answer,
            Role::User | Role::Tool | Role::System => Step::Addition,
        }
    }
}

impl Turn {
    /// Returns whether the turn has to be committed before this step is added: a question ends a
    /// turn that the model has answered.
    pub(super) fn ends_before(self, step: Step) -> bool {
        match (self, step) {
            (Turn::Answered, Step::Question) => true,
            (Turn::Empty | Turn::Asked, _) | (Turn::Answered, Step::Answer | Step::Addition) => {
                false
            }
        }
    }

    /// Returns the state of the turn once this step is part of it. The caller has committed a turn
    /// that the step ends.
    pub(super) fn after(self, step: Step) -> Turn {
        match (self, step) {
            (_, Step::Answer) | (Turn::Answered, _) => Turn::Answered,
            (Turn::Empty | Turn::Asked, Step::Question | Step::Addition) => Turn::Asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes steps like the session does, and returns the last state and the number of commits.
    fn take(steps: &[Step]) -> (Turn, usize) {
        let mut commits = 0;
        let turn = steps.iter().fold(Turn::default(), |turn, step| {
            let ends = turn.ends_before(*step);
            commits += usize::from(ends);
            if ends { Turn::Empty.after(*step) } else { turn.after(*step) }
        });
        (turn, commits)
    }

    #[test]
    fn question_ends_an_answered_turn() {
        assert_eq!(take(&[Step::Question, Step::Answer]), (Turn::Answered, 0));
        assert_eq!(take(&[Step::Question, Step::Answer, Step::Question]), (Turn::Asked, 1));
    }

    #[test]
    fn question_joins_a_turn_without_an_answer() {
        assert_eq!(take(&[Step::Question, Step::Question]), (Turn::Asked, 0));
        assert_eq!(take(&[Step::Addition, Step::Question]), (Turn::Asked, 0));
    }

    #[test]
    fn tool_loop_is_one_turn() {
        let steps = [Step::Question, Step::Answer, Step::Addition, Step::Answer];
        assert_eq!(take(&steps), (Turn::Answered, 0));
        assert_eq!(Step::of(Role::User, true), Step::Addition, "a result sent by the user");
    }
}
