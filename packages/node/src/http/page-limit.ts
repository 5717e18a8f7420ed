import { z } from 'zod'

/** How many rows of a list: `limit`, as every list that has a `cursor` takes it. */
export const pageLimit = (max: number, usual: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, `must be 1 to ${max}`)
    .refine((text) => Number(text) <= max, `must be 1 to ${max}`)
    .optional()
    .describe(`How many, 1 to ${max}; default: ${usual}.`)
