// Asks for the token, if the server does not know who calls.
import { useState } from "preact/hooks";
import { exchange, type Problem } from "../data/api";
import { asProblem } from "../data/resource";
import { Prose } from "./prose";

export function SignIn({ problem }: { problem: Problem }) {
  const [token, setToken] = useState("");
  const [refused, setRefused] = useState<Problem>();
  const submit = (event: Event) => {
    event.preventDefault();
    exchange(token.trim()).then(
      // Everything was read without a token: it is read again.
      () => location.reload(),
      (error: unknown) => setRefused(asProblem(error)),
    );
  };
  const said = refused ?? problem;
  return (
    <form class="notice sign-in" onSubmit={submit}>
      <h2>Sign in</h2>
      <p>
        <label>
          Token{" "}
          <input type="password" name="token" autocomplete="current-password" spellcheck={false} required value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        </label>{" "}
        <button class="strong">Sign in</button>
      </p>
      <p class="small" role="alert">
        <Prose text={said.message} /> <code>{said.code}</code>
      </p>
      <p class="small">
        <code>ctx serve</code> says at its start which file has the token; others get theirs from who runs the server. It is exchanged for a cookie, and this page does not keep it.
      </p>
    </form>
  );
}
