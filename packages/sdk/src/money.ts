const usdPattern = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$/
const atomicPattern = /^(0|[1-9][0-9]{0,17})$/

/** Decimal USD text to micro-USDC; undefined for anything that is not exactly that. */
export function parseUsd(text: string): bigint | undefined {
  const [, whole, fraction = ''] = usdPattern.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

/** Atomic units as x402 writes them: "0.02" is a unit mistake and no amount. */
export function parseAtomic(text: string): bigint | undefined {
  return atomicPattern.test(text) ? BigInt(text) : undefined
}

export function formatUsd(micro: bigint): string {
  const fraction = (micro % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return `${micro / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`
}
