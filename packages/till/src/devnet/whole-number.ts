import { RpcError, rpcCodes } from './rpc-error.ts'

/** A whole number given as JSON number or hex quantity. */
export function wholeNumber(value: unknown): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : value
  if (!Number.isSafeInteger(number) || (number as number) < 0)
    throw new RpcError(rpcCodes.invalidParams, 'a whole number is needed here')
  return number as number
}
