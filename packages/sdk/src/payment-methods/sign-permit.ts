import { permit2Domain, permit2Proxies, permit2Types } from '@assay/protocol/typed-data/permit2'
import type { Hex, LocalAccount } from 'viem'
import { getAddress } from 'viem/utils'
import { chainIdOf } from '../networks.ts'
import type { ChosenOffer } from '../spending-policy.ts'

/** A transfer through Permit2: of the exact amount, or of what was used, submitted by the one wallet that the offer names. */
export async function signPermit(
  account: LocalAccount,
  { offer, network, amountMicro, paymentMethod }: ChosenOffer,
  { nonce, deadline }: { nonce: Hex; deadline: number },
): Promise<Record<string, unknown>> {
  const scheme = paymentMethod === 'upto' ? 'upto' : 'exact'
  const named =
    paymentMethod === 'upto' ? { facilitator: getAddress(String(offer.extra.facilitatorAddress).toLowerCase()) } : {}
  const witness = { to: getAddress(offer.payTo.toLowerCase()), ...named, validAfter: 0n }
  const permitted = { token: getAddress(network.usdc.toLowerCase()), amount: amountMicro }
  const spender = getAddress(permit2Proxies[scheme])
  const signature = await account.signTypedData({
    domain: permit2Domain(chainIdOf(network)),
    types: permit2Types(scheme),
    primaryType: 'PermitWitnessTransferFrom',
    message: { permitted, spender, nonce: BigInt(nonce), deadline: BigInt(deadline), witness },
  })
  return {
    signature,
    permit2Authorization: {
      from: account.address,
      permitted: { token: permitted.token, amount: amountMicro.toString() },
      spender,
      nonce: BigInt(nonce).toString(),
      deadline: deadline.toString(),
      witness: { ...witness, validAfter: '0' },
    },
  }
}
