import { formatUsd } from '@assay/sdk'
import { shortAddress } from '../output.ts'

/**
 * Dollars for USDC, dollars and the token for another asset, gwei for gas, points as they are counted, with the sign in
 * front. `unit` may also be what a payment is kept under: a chain for its USDC, or a CAIP-19 id.
 */
export function amountText(amount: bigint, unit: string): string {
  const sign = amount < 0n ? '-' : ''
  const size = amount < 0n ? -amount : amount
  if (unit === 'points') return `${sign}${size} points`
  if (unit.endsWith('/gas')) return `${sign}${size} gwei`
  const [, token] = unit.split('/erc20:')
  return `${sign}${formatUsd(size)} ${token === undefined ? 'USDC' : `USD in ${shortAddress(token)}`}`
}
