import { type Address, checksumAddress } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import { toHex } from '@assay/protocol/bytes'
import { type Permit2Scheme, permit2Digest } from '@assay/protocol/typed-data/permit2'
import { uintWord } from '@assay/protocol/typed-data/words'
import type { ChainPort, Network } from '../../chain/index.ts'
import type { Settlers } from '../../contract/facilitator.ts'
import type { PaidCall } from '../../contract/paid-call.ts'
import type { FundsOutcome, Invalid, MatchOutcome, Scheme, VerifiedPayment } from '../../contract/scheme.ts'
import type { Terms } from '../../contract/terms.ts'
import { permit2Payment, sponsoringKey } from '../../facilitators/permit2-payment.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import { bindingFits } from '../exact/match-terms.ts'
import {
  askContract,
  askPayerAgain,
  checkDigest,
  settleMarginSeconds,
  windowSlackSeconds,
} from '../exact/verify-authorization.ts'
import { termsForAmount } from '../match-offer.ts'
import { decodePermit2, type Permit2SchemePayment, type Permit2Signed } from './decode-permit2.ts'
import { whereDeployed } from './deployed.ts'
import { permit2Evidence, permit2Reasons } from './evidence.ts'
import { isSignedPermit, sponsoringExtension } from './gas-sponsoring.ts'

type Permit2Deps = {
  chains: ReadonlyMap<string, ChainPort>
  /** Who settles permits on a network; undefined where nobody does. */
  settlersOn(network: string): Settlers | undefined
}

/** Both ways to pay by Permit2, where the facilitator settles them. */
export async function openPermit2Schemes(deps: Parameters<typeof whereDeployed>[0]): Promise<readonly Scheme[]> {
  const settlersOf = await whereDeployed(deps)
  const found = { chains: deps.chains, settlersOn: (network: string) => settlersOf(chainOfAsset(network)) }
  return [createUptoScheme(found), createExactPermit2Scheme(found)]
}

const badSignature = 'invalid_permit2_signature'
const invalid = (reason: string, detail: string): Invalid => ({ status: 'invalid', reason, detail })

/** The very amount that was quoted, by Permit2: for wallets and tokens without EIP-3009. */
const createExactPermit2Scheme = (deps: Permit2Deps): Scheme<Permit2Signed> => ({
  ...createScheme('exact', deps),
  id: 'exact-permit2',
  name: 'exact',
  chargesLess: false,
  isOffered: ({ permit2 }, { network }) => permit2 === true || network.usdc.eip3009 === false,
  suitsAll: ({ network }) => network.usdc.eip3009 === false,
})

/** A maximum that was quoted, and what was used of it: only the wallet that the quote names can take it. */
const createUptoScheme = (deps: Permit2Deps): Scheme<Permit2Signed> => ({
  ...createScheme('upto', deps),
  id: 'upto',
  name: 'upto',
  chargesLess: true,
  isOffered: ({ metered }) => metered === true,
})

type Common = Omit<Scheme<Permit2Signed>, 'id' | 'name' | 'chargesLess' | 'isOffered'>

function createScheme(scheme: Permit2Scheme, { chains, settlersOn }: Permit2Deps): Common {
  const walletsOn = (network: string) => settlersOn(network)?.wallets ?? []
  // Of `upto` a charge may be zero: then nothing is carried, and no approval with it.
  // Nothing is known of the permits of a token whose EIP-712 domain was not checked.
  const sponsors = ({ caip2, usdc }: Network) =>
    scheme === 'exact' && usdc.eip3009 !== false && settlersOn(caip2)?.extensions.includes(sponsoringKey) === true
  let turn = 0
  /** A wallet sends one transaction after the other: quotes take turns. */
  const nextWallet = (network: string): Address | undefined => {
    const wallets = walletsOn(network)
    turn += 1
    return wallets[turn % wallets.length]
  }
  return {
    reasons: permit2Reasons,
    evidence: permit2Evidence(chains),
    supports: (network) => settlersOn(network) !== undefined,
    requirements: (terms) =>
      requirements(scheme, terms, scheme === 'upto' ? nextWallet(terms.network.caip2) : undefined),
    extensions: ({ network }) => (sponsors(network) ? { [sponsoringKey]: sponsoringExtension } : {}),
    decode: (envelope) =>
      scheme === 'exact' && envelope.payload?.['permit2Authorization'] === undefined
        ? { status: 'unsupported', reason: 'invalid_payload', detail: 'Not a Permit2 payment.' }
        : decodePermit2(scheme, envelope),
    match(payment, call, current, offers) {
      const onNetwork = current.find((terms) => terms.network.caip2 === payment.network)
      if (!onNetwork) return invalid('invalid_network', `Not taken on ${payment.network.slice(0, 64)}.`)
      const problem = mismatch(payment, call, onNetwork, walletsOn)
      if (problem) return problem
      const terms = termsForAmount(payment.envelope, call, onNetwork, offers)
      if (!terms || payment.signed.transfer.amount !== terms.amountMicro)
        return invalid('permit2_amount_mismatch', `The amount must be exactly ${onNetwork.amountMicro}.`)
      return { status: 'ok', terms } satisfies MatchOutcome
    },
    checkWindow,
    checkSignature: async ({ payer, signed }, chain) =>
      checkDigest(payer, signed.signature, digestOf(scheme, chain, signed), chain, badSignature),
    readFunds: (verified, chain) => readFunds(verified, chain, sponsors(chain.network)),
    async checkAgain(verified, chain, nowSeconds) {
      if (verified.payment.signed.transfer.deadline < BigInt(nowSeconds + settleMarginSeconds))
        return {
          ...invalid(
            'permit2_deadline_expired',
            'The permit ran out while the answer was prepared; nothing was taken.',
          ),
          released: 'authorization_too_short',
        }
      return askPayerAgain(verified, chain, badSignature)
    },
    settle: ({ payment, terms }, charge, facilitator, signal) =>
      facilitator.settle(
        permit2Payment({
          ...{ paymentId: charge.id, scheme, network: chainOfAsset(charge.network), asset: terms.network.usdc },
          ...{ amountMicro: charge.amountMicro, maxTimeoutSeconds: terms.maxTimeoutSeconds },
          ...charge.sold,
          permit2: sponsors(terms.network) ? payment.signed : withoutApproval(payment.signed),
        }),
        signal,
      ),
    // Anyone who holds a permit of `exact` may submit it until its deadline, whatever fails now.
    confirmsRefusal: async () => false,
  }
}

/** An approval that nobody carries here would keep the payment from being carried; it was read with an allowance that is enough. */
const withoutApproval = ({ transfer, signature }: Permit2Signed): Permit2Signed => ({ transfer, signature })

function requirements(scheme: Permit2Scheme, terms: Terms, wallet: Address | undefined) {
  const { network, asset, payTo, amountMicro, maxTimeoutSeconds } = terms
  const { name, version } = network.usdc
  return {
    ...{ scheme, network: chainOfAsset(network.caip2), amount: amountMicro.toString() },
    ...{ asset: checksumAddress(asset), payTo: checksumAddress(payTo), maxTimeoutSeconds },
    extra: {
      ...(name === '' ? {} : { name, version }),
      assetTransferMethod: 'permit2',
      ...(wallet === undefined ? {} : { facilitatorAddress: checksumAddress(wallet) }),
    },
  }
}

function mismatch(
  { network, envelope, signed: { transfer } }: Permit2SchemePayment,
  call: PaidCall,
  terms: Terms,
  walletsOn: (network: string) => readonly Address[],
): Invalid | undefined {
  if (!bindingFits(call, toHex(uintWord(transfer.nonce)), envelope.bindingSalt))
    return {
      ...invalid('invalid_request_binding', 'The nonce is not that of this request.'),
      code: 'payment_binding_invalid',
    }
  if (envelope.asset !== terms.asset || transfer.token !== terms.asset)
    return invalid('permit2_token_mismatch', `The asset must be ${terms.asset}.`)
  if (envelope.payTo !== terms.payTo || transfer.to !== terms.payTo)
    return invalid('invalid_permit2_recipient_mismatch', `The recipient must be ${terms.payTo}.`)
  if (transfer.facilitator !== undefined && !walletsOn(network).includes(transfer.facilitator))
    return invalid('upto_facilitator_mismatch', 'witness.facilitator must be the facilitatorAddress of the 402.')
  return undefined
}

function checkWindow({ signed: { transfer } }: Permit2SchemePayment, terms: Terms, nowSeconds: number) {
  if (transfer.validAfter > BigInt(nowSeconds)) return invalid('permit2_not_yet_valid', 'The permit is not valid yet.')
  if (transfer.deadline < BigInt(nowSeconds + settleMarginSeconds))
    return invalid('permit2_deadline_expired', `The permit must be valid for at least ${settleMarginSeconds} s more.`)
  if (transfer.deadline > BigInt(nowSeconds + terms.maxTimeoutSeconds + windowSlackSeconds))
    return invalid('permit2_deadline_expired', `The permit must run out within ${terms.maxTimeoutSeconds} s.`)
  return { status: 'valid' as const }
}

const digestOf = (scheme: Permit2Scheme, { network }: ChainPort, { transfer }: Permit2Signed): Buffer =>
  Buffer.from(permit2Digest(scheme, network.chainId, transfer, keccak256))

/** One endpoint is enough to go on with; turning a buyer away takes enough of them that agree. */
async function readFunds(
  verified: VerifiedPayment<Permit2Signed>,
  chain: ChainPort,
  sponsored: boolean,
): Promise<FundsOutcome> {
  const { payment, terms } = verified
  const { payer } = payment
  const { transfer, tokenPermit } = payment.signed
  const { nonce } = transfer
  const status = await chain.permit2.payerStatus(payer, nonce)
  if (verified.payerIsKey && status.hasCode) {
    const detail = 'The payer has code, and that code does not accept the signature.'
    const refusal = await askContract(verified, chain, badSignature, detail)
    if (refusal) return refusal
  }
  const used = status.nonceUsed && (await chain.permit2.used(payer, nonce, 'latest'))
  const short = (micro: bigint) => micro < terms.amountMicro
  const head = short(status.allowanceMicro) || short(status.balanceMicro) ? (await chain.head()).number : 0n
  const approves = sponsored && tokenPermit !== undefined && isSignedPermit(chain.network, transfer, tokenPermit)
  if (!used && short(status.allowanceMicro) && !approves && short(await chain.permit2.allowance(payer, head)))
    return invalid('permit2_allowance_required', 'Approve Permit2 to take the token from the payer, then pay.')
  const balance = short(status.balanceMicro) ? await chain.usdcBalance(payer, head) : status.balanceMicro
  const allowed = short(status.allowanceMicro) ? terms.amountMicro : status.allowanceMicro
  return {
    status: 'ok',
    // Payments under way may not exceed what Permit2 can take.
    balanceMicro: balance < allowed ? balance : allowed,
    used,
    payerIsKey: verified.payerIsKey && !status.hasCode,
  }
}
