import { nonceOfPermit2Key, permit2Key } from '@assay/protocol/typed-data/permit2'
import type { ChainPort } from '../../chain/index.ts'
import type { ClaimKey, SchemeEvidence, SchemeReasons } from '../../contract/scheme.ts'

function nonceOf({ paymentKey }: Pick<ClaimKey, 'paymentKey'>): bigint {
  const nonce = nonceOfPermit2Key(paymentKey)
  if (nonce === undefined) throw new Error('not the key of a permit')
  return nonce
}

/** The bit of a nonce at named blocks, and the transfer in the block in which it flips. */
export function permit2Evidence(chains: ReadonlyMap<string, ChainPort>): SchemeEvidence {
  const useOf: SchemeEvidence['useOf'] = (chain, key, fromBlock) =>
    chain.permit2.use(key.payer, nonceOf(key), fromBlock)
  return {
    useOf,
    isUsed: (chain, key, at) => chain.permit2.used(key.payer, nonceOf(key), at),
    byTransaction: (chain, claim, transaction) =>
      chain.permit2.byTransaction(transaction, { ...claim, nonce: nonceOf(claim) }),
    async byKey(chain, claim, fromBlock) {
      const use = await useOf(chain, claim, fromBlock)
      if (use.status !== 'transfer') return use
      const { transfer } = use
      return transfer.recipient === claim.payTo && transfer.amountMicro === claim.amountMicro
        ? { ...transfer, status: 'confirmed', gasGwei: 0n }
        : { status: 'used_otherwise', transfer }
    },
    async keyOf({ network, sender, transaction, paymentKey }) {
      // A transfer that an EIP-3009 authorization carried is no permit's.
      if (paymentKey !== undefined) return nonceOfPermit2Key(paymentKey) === undefined ? undefined : paymentKey
      const permit = await chains.get(network)?.permit2.permitIn(transaction)
      return permit?.owner === sender ? permit2Key(permit.nonce) : undefined
    },
  }
}

export const permit2Reasons: SchemeReasons = {
  reused: 'payment_nonce_reused',
  usedBefore: 'permit2_invalid_nonce',
  usedUp: 'The nonce is used up.',
  usedOtherwise: 'The nonce was used for something else.',
  usedForDust: 'The nonce was used for a transfer of less than 0.001 USDC, which is not credited.',
  paidToOthers: {
    reason: 'nonce_used_elsewhere',
    detail: 'The nonce was used for a transfer that brought no money here.',
  },
  canceled: { reason: 'permit_canceled', detail: 'The payer cancelled the nonce of the permit.' },
  expired: 'permit2_deadline_expired',
}
