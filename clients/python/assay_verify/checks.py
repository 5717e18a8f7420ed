"""The outcome of one check."""


def check(name, status, detail):
    return {'name': name, 'status': status, 'detail': detail}


def passed(name, detail):
    return check(name, 'passed', detail)


def failed(name, detail):
    return check(name, 'failed', detail)


def open_(name, detail):
    return check(name, 'not_checked', detail)
