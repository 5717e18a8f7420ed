import { type Address, hasChecksum, parseAddress, zeroAddress } from '@assay/protocol/address'
import type { WithdrawPolicy } from '@assay/till/payouts'
import type { ConfiguredNetwork } from './config-type.ts'
import type { Environment } from './environment.ts'

const unitMs = { h: 3_600_000, d: 86_400_000 } as const

/** Where the operator's money may go, default: PAY_TO, and when it goes by itself. */
export function withdrawPolicy(
  env: Environment,
  networks: readonly ConfiguredNetwork[],
  payTo: Address,
  problems: string[],
): WithdrawPolicy {
  const [, count, unit] = /^(\d+)([hd])$/.exec(env.WITHDRAW_EVERY) ?? []
  return {
    destinations: destinationsOf(env.WITHDRAW_TO, networks, payTo, problems),
    ...(count === undefined ? {} : { everyMs: Number(count) * unitMs[unit as 'h' | 'd'] }),
    minimumMicro: env.WITHDRAW_MINIMUM_USD,
  }
}

/** Addresses for all chains, or `eip155:8453=0x…`: a contract wallet may belong to somebody else on another chain. */
function destinationsOf(
  value: string | undefined,
  networks: readonly ConfiguredNetwork[],
  payTo: Address,
  problems: string[],
): WithdrawPolicy['destinations'] {
  if (value === undefined) return networks.map(({ caip2 }) => ({ network: caip2, address: payTo }))
  return value.split(',').flatMap((part) => {
    const [network, text] = part.includes('=') ? part.split('=').map((side) => side.trim()) : [undefined, part.trim()]
    const address = text !== undefined && hasChecksum(text) ? parseAddress(text) : undefined
    const chosen = networks.filter(({ caip2 }) => network === undefined || caip2 === network)
    if (address === undefined || address === zeroAddress)
      problems.push('WITHDRAW_TO: must be addresses with their EIP-55 checksums, such as 0x… or eip155:8453=0x…')
    else if (chosen.length === 0) problems.push(`WITHDRAW_TO: the node has no network ${network}`)
    else if (chosen.some(({ custody }) => custody === address))
      problems.push('WITHDRAW_TO: must not be CUSTODY, where the money is')
    else return chosen.map(({ caip2 }) => ({ network: caip2, address }))
    return []
  })
}
