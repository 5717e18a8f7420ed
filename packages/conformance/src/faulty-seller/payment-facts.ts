import { type Address, createPublicClient, erc20Abi, type Hex, http, parseAbi, parseAbiItem } from 'viem'
import type { FacilitatorControl } from '../facilitator/control.ts'
import type { PaymentDocument } from '../seller/sign-payment.ts'

export type PaymentFacts = {
  /** The nonce was used or cancelled. */
  isUsed: boolean
  isCancelled: boolean
  /** What the transfer with this nonce moved. */
  moved: bigint | undefined
  code: Hex
  balance: bigint
  /** The payer never had anything. */
  isEmpty: boolean
  /** Its settlement was held. */
  wasHeld: boolean
  /** The clock of the chain is past `validBefore`, and ours is not. */
  isExpiredOnChainOnly: boolean
}

const nonceState = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const cancelled = parseAbiItem('event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)')
const used = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** Reads what a mistake depends on: each mistake is made where only its own case looks. */
export function readFacts(control: FacilitatorControl, rpc: string, address: Address, now: () => number) {
  const chain = createPublicClient({ transport: http(rpc), cacheTime: 0 })
  return async ({ payload: { authorization } }: PaymentDocument): Promise<PaymentFacts> => {
    const payer = authorization.from as Address
    const key = { authorizer: payer, nonce: authorization.nonce }
    const logs = { address, fromBlock: 0n } as const
    const [isUsed, cancellations, uses, code, balance, received, state, head] = await Promise.all([
      chain.readContract({ address, abi: nonceState, functionName: 'authorizationState', args: [payer, key.nonce] }),
      chain.getLogs({ ...logs, event: cancelled, args: key }),
      chain.getLogs({ ...logs, event: used, args: key }),
      chain.getCode({ address: payer }),
      chain.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [payer] }),
      chain.getLogs({ ...logs, event: transfer, args: { to: payer } }),
      control.state(),
      chain.getBlock({ blockTag: 'pending' }),
    ])
    const [use] = uses
    const validBefore = BigInt(authorization['validBefore'] ?? 0)
    const sent =
      use && (await chain.getLogs({ address, blockHash: use.blockHash, event: transfer, args: { from: payer } }))
    return {
      ...{ isUsed, isCancelled: cancellations.length > 0, code: code ?? '0x', balance, isEmpty: received.length === 0 },
      moved: sent?.find(({ transactionHash }) => transactionHash === use?.transactionHash)?.args.value,
      wasHeld: state.held.includes(authorization.nonce.toLowerCase()),
      isExpiredOnChainOnly: head.timestamp >= validBefore && BigInt(now()) < validBefore,
    }
  }
}
