// Throws and catches, for stops by the type of an exception. See `subject.js` for the marks.
class AppError extends Error {}
class SubError extends AppError {}

function attempt(error) {
  try {
    throw error; // mark: raise
  } catch {
    return error;
  }
}

attempt(new RangeError("first"));
attempt(new TypeError("second"));
attempt(new SubError("third"));
