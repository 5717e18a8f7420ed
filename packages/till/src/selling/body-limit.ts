import { Problem } from '../kernel/problem.ts'

export const defaultBodyBytes = 64 * 1024

export function tooLarge(maxBytes: number): Problem {
  return new Problem('body_too_large', { extra: { max_bytes: maxBytes } })
}
