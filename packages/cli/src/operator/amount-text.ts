import { formatUsd } from '@assay/sdk'

/** Dollars for USDC, gwei for gas, points as they are counted, with the sign in front. */
export function amountText(amount: bigint, unit: string): string {
  const sign = amount < 0n ? '-' : ''
  const size = amount < 0n ? -amount : amount
  if (unit === 'points') return `${sign}${size} points`
  return unit.endsWith('/gas') ? `${sign}${size} gwei` : `${sign}${formatUsd(size)} USDC`
}
