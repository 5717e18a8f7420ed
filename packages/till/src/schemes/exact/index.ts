import { checksumAddress } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Network } from '../../chain/index.ts'
import type { Scheme } from '../../contract/scheme.ts'
import type { Terms } from '../../contract/terms.ts'
import { exactPayment } from '../../facilitators/exact-payment.ts'
import { simulationConfirms } from '../../facilitators/refusal-causes.ts'
import { usdcDomainSeparator } from '../../kernel/eip3009.ts'
import { decodeExact, type ExactSigned } from './decode-exact.ts'
import { exactEvidence, exactReasons } from './evidence.ts'
import { matchTerms } from './match-terms.ts'
import { checkAgain, checkSignature, checkWindow, readFunds } from './verify-authorization.ts'

/** The x402 v2 PaymentRequirements object of our terms. */
export function exactRequirements(terms: Terms): Record<string, unknown> {
  return {
    scheme: 'exact',
    network: chainOfAsset(terms.network.caip2),
    amount: terms.amountMicro.toString(),
    asset: checksumAddress(terms.asset),
    payTo: checksumAddress(terms.payTo),
    maxTimeoutSeconds: terms.maxTimeoutSeconds,
    extra: { name: terms.network.usdc.name, version: terms.network.usdc.version },
  }
}

const hasEip3009 = ({ network }: Terms): boolean => network.usdc.eip3009 !== false

/** The very amount that was quoted, by EIP-3009: anyone may carry the authorization, once, until it expires. */
export function createExactScheme(networks: readonly Network[]): Scheme<ExactSigned> {
  const domainSeparators = new Map(
    networks.map(({ caip2, usdc, chainId }) => [caip2, usdcDomainSeparator({ ...usdc, chainId })]),
  )
  return {
    id: 'exact',
    name: 'exact',
    chargesLess: false,
    reasons: exactReasons,
    evidence: exactEvidence,
    supports: (network) => network.startsWith('eip155:'),
    isOffered: (_route, terms) => hasEip3009(terms),
    suitsAll: hasEip3009,
    requirements: exactRequirements,
    decode: decodeExact,
    match: (payment, call, current, offers) => matchTerms(payment, call, current.filter(hasEip3009), offers),
    checkWindow,
    async checkSignature(payment, chain) {
      const domainSeparator = domainSeparators.get(payment.network)
      if (!domainSeparator) throw new Error(`no asset is known on ${payment.network}`)
      return checkSignature(payment, domainSeparator, chain)
    },
    readFunds,
    checkAgain,
    settle: ({ payment, terms }, charge, facilitator, signal) =>
      facilitator.settle(
        exactPayment({
          paymentId: charge.id,
          network: chainOfAsset(charge.network),
          asset: terms.network.usdc,
          payTo: charge.payTo,
          amountMicro: charge.amountMicro,
          maxTimeoutSeconds: terms.maxTimeoutSeconds,
          ...charge.sold,
          ...payment.signed,
        }),
        signal,
      ),
    confirmsRefusal: async ({ payment: { signed } }, _charge, chain, reason) =>
      simulationConfirms(reason, await chain.simulateTransfer(signed.authorization, signed.signature)),
  }
}
