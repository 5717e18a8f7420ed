/** Where the files of the log are. */
export const logPath = '/v1/log'
