const program = `process.stdin.resume().on('close', () => process.kill(process.pid, 'SIGTERM')).unref()`

/**
 * Arguments of Node for a program that knows nothing of tests, with a pipe as its standard input: an interrupted run
 * closes the pipe, and nothing is left running.
 */
export const endWithParent = ['--import', `data:text/javascript,${encodeURIComponent(program)}`]
