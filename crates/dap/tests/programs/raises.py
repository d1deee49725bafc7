"""Raises and catches, for stops by the type of an exception. See `subject.py` for the marks."""


class AppError(Exception):
    pass


class SubError(AppError):
    pass


def attempt(error):
    try:
        raise error  # mark: raise
    except Exception:
        return error


attempt(KeyError("first"))
attempt(ValueError("second"))
attempt(SubError("third"))
