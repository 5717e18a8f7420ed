const simulated = new Set(['eth_call', 'eth_estimateGas', 'debug_traceCall'])
const gasDefault = 20_000_000n
const gasMax = 40_000_000n

/**
 * Public nodes bound the gas of a call that nobody pays for. Here it also bounds memory: the engine remembers every
 * step it takes, and a contract made to burn gas would fill gigabytes.
 */
export function limitGas(method: string, params: readonly unknown[]): readonly unknown[] {
  const [call, ...rest] = params
  if (!simulated.has(method) || typeof call !== 'object' || call === null) return params
  const { gas } = call as { gas?: unknown }
  if (gas === undefined || gas === null) return [{ ...call, gas: quantityOf(gasDefault) }, ...rest]
  if (typeof gas !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(gas) || BigInt(gas) <= gasMax) return params
  return [{ ...call, gas: quantityOf(gasMax) }, ...rest]
}

const quantityOf = (value: bigint) => `0x${value.toString(16)}`
