/** A busy server hears of the next request late: with the usual 5 s it closes connections in the middle of a round. */
export const keepAliveTimeout = 60_000
