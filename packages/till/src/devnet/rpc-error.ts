/** A JSON-RPC error object, in the codes and words of a public node, which is what clients match on. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  server: -32000,
  reverted: 3,
} as const

const knownTransaction = /^Known transaction/i
const lackingFunds = /doesn't have enough funds|lack of funds/i
const unsupported = /^Method (\S+) is not supported/

/** The engine speaks with its own words; wallets and viem understand those of geth. */
export function fromEngineError(error: { code: number; message: string; data?: unknown }): RpcError {
  const revertData = (error.data as { data?: unknown } | null | undefined)?.data
  const reason = (error.data as { reason?: unknown } | null | undefined)?.reason
  if (typeof revertData === 'string' && typeof reason === 'object' && reason !== null && 'Revert' in reason) {
    const text = /reverted with reason string '(.*)'$/s.exec(error.message)?.[1]
    return new RpcError(rpcCodes.reverted, text ? `execution reverted: ${text}` : 'execution reverted', revertData)
  }
  const method = unsupported.exec(error.message)?.[1]
  if (method !== undefined)
    return new RpcError(rpcCodes.methodNotFound, `the method ${method} does not exist/is not available`)
  if (knownTransaction.test(error.message)) return new RpcError(rpcCodes.server, 'already known')
  if (lackingFunds.test(error.message))
    return new RpcError(rpcCodes.server, `insufficient funds for gas * price + value: ${error.message}`)
  return new RpcError(error.code, error.message)
}
