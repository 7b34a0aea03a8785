//! Python objects to JSON values, and back.

use contextree_json::{MAX_VALUE_DEPTH, Number, Object, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::invalid;

/// Reads a dictionary of `None`, `bool`, `int`, `float`, `str`, `list`, `tuple` and `dict`.
///
/// # Errors
///
/// If an object is of another type, is not finite, is not valid Unicode, or is nested too deeply or in itself.
pub(crate) fn read_object(dict: &Bound<'_, PyDict>) -> PyResult<Object> {
    Walk { path: Vec::new() }.object(dict)
}

/// A walk through an object, with the way from its root for messages.
struct Walk {
    path: Vec<String>,
}

impl Walk {
    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Value> {
        if object.is_none() {
            Ok(Value::Null)
        } else if let Ok(text) = object.cast::<PyString>() {
            Ok(Value::String(self.text(text)?.into()))
        } else if let Ok(truth) = object.cast::<PyBool>() {
            Ok(Value::Bool(truth.is_true()))
        } else if let Ok(integer) = object.cast::<PyInt>() {
            self.integer(integer).map(Value::Number)
        } else if let Ok(float) = object.cast::<PyFloat>() {
            let number = Number::from_f64(float.value());
            let number = number.ok_or_else(|| self.wrong(object.py(), "is not a finite number"))?;
            Ok(Value::Number(number))
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.object(dict).map(Value::Object)
        } else if let Ok(list) = object.cast::<PyList>() {
            self.array(object.py(), list.iter())
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.array(object.py(), tuple.iter())
        } else {
            let kind = object.get_type();
            let kind = kind.name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            Err(self.wrong(object.py(), &format!("is of type `{kind}`, which JSON does not have")))
        }
    }

    fn text(&self, text: &Bound<'_, PyString>) -> PyResult<String> {
        match text.to_str() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(self.wrong(text.py(), "has a lone surrogate, which is not Unicode")),
        }
    }

    fn integer(&self, integer: &Bound<'_, PyInt>) -> PyResult<Number> {
        if let Ok(small) = integer.extract::<i64>() {
            return Ok(Number::from_i64(small));
        }
        // Python refuses to print integers of thousands of digits.
        let text = integer.call_method0("__repr__").and_then(|text| text.extract::<String>());
        let number = text.ok().and_then(|text| Number::from_integer_text(&text));
        number.ok_or_else(|| self.wrong(integer.py(), "is an integer that is too large"))
    }

    fn array<'py>(
        &mut self,
        py: Python<'py>,
        items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Value> {
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.enumerate() {
            self.enter(py, format!("[{index}]"))?;
            values.push(self.read(&item)?);
            self.path.pop();
        }
        Ok(Value::Array(values))
    }

    fn object(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<Object> {
        let mut object = Object::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(self.wrong(dict.py(), "has a key that is not a string"));
            };
            let key = self.text(key)?;
            self.enter(dict.py(), format!(".{key}"))?;
            object.insert(&key, self.read(&value)?);
            self.path.pop();
        }
        Ok(object)
    }

    fn enter(&mut self, py: Python<'_>, step: String) -> PyResult<()> {
        // Stops for objects that contain themselves, too.
        if self.path.len() >= MAX_VALUE_DEPTH {
            self.path.truncate(3);
            return Err(self.wrong(py, &format!("is nested deeper than {MAX_VALUE_DEPTH}")));
        }
        self.path.push(step);
        Ok(())
    }

    fn wrong(&self, py: Python<'_>, what: &str) -> PyErr {
        let path = self.path.concat();
        let place = path.trim_start_matches('.');
        let shown = if place.is_empty() { "the value".to_owned() } else { format!("`{place}`") };
        invalid(py, &format!("{shown} {what}"), place)
    }
}

/// Makes a Python object of a value.
///
/// # Errors
///
/// If Python is out of memory.
pub(crate) fn write<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => write_number(py, number)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(write(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(object) => write_object(py, object)?.into_any(),
    })
}

/// Makes a dictionary of an object.
///
/// # Errors
///
/// See [`write`].
pub(crate) fn write_object<'py>(py: Python<'py>, object: &Object) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in object {
        dict.set_item(PyString::intern(py, key), write(py, value)?)?;
    }
    Ok(dict)
}

fn write_number<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    if let Some(integer) = number.as_i64().filter(|_| number.is_integer()) {
        return Ok(integer.into_pyobject(py)?.into_any());
    }
    if number.is_integer() {
        let mut text = Vec::new();
        contextree_json::write::number(&mut text, number);
        let text = String::from_utf8_lossy(&text).into_owned();
        return py.get_type::<PyInt>().call1((text,));
    }
    Ok(PyFloat::new(py, number.as_f64()).into_any())
}
