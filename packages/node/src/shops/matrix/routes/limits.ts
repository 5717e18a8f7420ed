export const limitMax = 25_000
export const limitDefault = 100
