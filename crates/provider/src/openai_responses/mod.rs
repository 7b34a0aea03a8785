//! Stub.
use contextree_engine::NewNode;
use contextree_json::{Object, Value};
use crate::import::{Fields, Incoming, Shape};
use crate::parts::Part;
use crate::render::{Message, Out, Preamble, Wire};
use crate::requests::Request;
pub(crate) struct Responses;
impl Wire for Responses {
    fn joins(&self, _: &Part<'_>, _: &Part<'_>, _: bool) -> bool { false }
    fn answers_together(&self) -> bool { false }
    fn begin(&self, _: &mut Out, _: &Preamble<'_>, _: &Object) {}
    fn message(&self, _: &mut Out, _: &Message<'_>, _: &[Part<'_>], _: &[Part<'_>]) {}
    fn missing(&self, _: &mut Out, _: &[Part<'_>]) {}
}
pub(crate) fn read_request(_: Fields) -> Result<Request, Shape> { Ok(Request::default()) }
pub(crate) fn read_message(_: Value) -> Result<Incoming, Shape> { Err(Shape::new("nothing yet")) }
pub(crate) fn read_content(_: Value) -> Result<Incoming, Shape> { Err(Shape::new("nothing yet")) }
pub(crate) fn read_items(_: Vec<Value>, _: usize) -> Result<Vec<(usize, Incoming)>, Shape> { Err(Shape::new("nothing yet")) }
pub(crate) fn read_part(v: Value) -> NewNode { NewNode::json(v) }
