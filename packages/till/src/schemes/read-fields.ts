export { asRecord as fields } from '@assay/protocol/json-object'

const uintPattern = /^(0|[1-9][0-9]{0,77})$/
const uint256Max = 2n ** 256n - 1n

export function own(object: Record<string, unknown> | undefined, key: string): unknown {
  return object && Object.hasOwn(object, key) ? object[key] : undefined
}

/** A uint256 as decimal text without leading zeros. */
export function uint(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !uintPattern.test(value)) return undefined
  const parsed = BigInt(value)
  return parsed <= uint256Max ? parsed : undefined
}

export const isAmount = (value: unknown): value is string => typeof value === 'string' && uintPattern.test(value)
