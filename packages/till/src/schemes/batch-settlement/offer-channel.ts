import { type Address, checksumAddress, zeroAddress } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { takesCredit } from '../../contract/credit-terms.ts'
import type { Offers } from '../../contract/offers.ts'
import type { PaidCall, PaidRoute } from '../../contract/paid-call.ts'
import type { Invalid } from '../../contract/scheme.ts'
import type { Terms } from '../../contract/terms.ts'
import { termsForAmount } from '../match-offer.ts'
import type { ChannelPayment } from './decode-channel.ts'

export const channelScheme = 'batch-settlement'

/** Above this, a transaction for each call costs little beside the price. */
const priceMicroMax: Micro = 10_000n

export type ChannelOffering = {
  /** Wallets of ours that may claim; the first is named in new channels. None where no channel is taken. */
  authorizersOn(network: string): readonly Address[]
  withdrawDelaySeconds: number
  /** A deposit for so many calls is suggested. */
  callsPerDeposit: number
}

/**
 * Whether a route is paid through channels. Money of others, credit, and what is revoked when its money goes, waits for
 * no claim.
 */
export function sellsByChannel(route: PaidRoute, priceMicro: Micro): boolean {
  const { payee, revocable } = route
  return takesCredit(route) && payee === 'pay_to' && !revocable && priceMicro > 0n && priceMicro <= priceMicroMax
}

/** The entry of `accepts`. */
export function channelRequirements(offering: ChannelOffering, terms: Terms): Record<string, unknown> {
  const { network, asset, payTo, amountMicro, maxTimeoutSeconds } = terms
  const { name, version } = network.usdc
  const [authorizer] = offering.authorizersOn(network.caip2)
  if (authorizer === undefined) throw new Error(`no channels are taken on ${network.caip2}`)
  return {
    ...{ scheme: channelScheme, network: network.caip2, amount: amountMicro.toString() },
    ...{ asset: checksumAddress(asset), payTo: checksumAddress(payTo), maxTimeoutSeconds },
    extra: {
      ...{ receiverAuthorizer: checksumAddress(authorizer), withdrawDelay: offering.withdrawDelaySeconds },
      ...{ name, version, assetTransferMethod: 'eip3009' },
      minDeposit: (amountMicro * BigInt(offering.callsPerDeposit)).toString(),
    },
  }
}

const prefix = 'invalid_batch_settlement_evm'
const invalid = (reason: string, detail: string): Invalid => ({
  ...{ status: 'invalid', reason: `${prefix}_${reason}`, detail },
})

/** The terms of ours that a voucher or a deposit is for; a channel that we can claim from, and nobody else's. */
export function matchChannel(
  offering: ChannelOffering,
  { network, envelope, config }: ChannelPayment,
  call: PaidCall,
  current: readonly Terms[],
  offers: Offers,
): { status: 'ok'; terms: Terms } | Invalid {
  const onNetwork = current.find((terms) => terms.network.caip2 === network)
  const authorizers = offering.authorizersOn(network)
  if (!onNetwork || authorizers.length === 0) return invalid('network_mismatch', 'Channels are not taken on it.')
  if (!sellsByChannel(call.route, onNetwork.amountMicro))
    return { ...invalid('scheme', 'This is not sold through channels.'), reason: 'unsupported_scheme' }
  if (envelope.asset !== onNetwork.asset || config.token !== onNetwork.asset)
    return invalid('token_mismatch', `The token must be ${onNetwork.asset}.`)
  if (envelope.payTo !== onNetwork.payTo || config.receiver !== onNetwork.payTo)
    return invalid('receiver_mismatch', `The receiver must be ${onNetwork.payTo}.`)
  if (!authorizers.includes(config.receiverAuthorizer))
    return invalid('receiver_authorizer_mismatch', `receiverAuthorizer must be ${authorizers[0]}.`)
  if (config.payerAuthorizer === zeroAddress)
    return invalid('authorizer_not_configured', 'Vouchers must be signed by a key: name it as payerAuthorizer.')
  if (config.withdrawDelay !== offering.withdrawDelaySeconds)
    return invalid('withdraw_delay_mismatch', `withdrawDelay must be ${offering.withdrawDelaySeconds}.`)
  const terms = termsForAmount(envelope, call, onNetwork, offers)
  if (!terms) return { ...invalid('amount', `The amount is ${onNetwork.amountMicro}.`), reason: 'invalid_amount' }
  return { status: 'ok', terms }
}
