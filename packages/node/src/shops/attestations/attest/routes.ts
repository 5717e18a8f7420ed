import type { Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type Unavailable } from '../../../http/index.ts'
import { citationMicro, priceMicroMax } from '../../sources/index.ts'
import { commitClaims, prepareClaim } from './anchor-claim.ts'
import { attestPrices, claimPrice } from './attest-price.ts'
import { commitAttestations } from './commit-attestation.ts'
import type { AttestDeps } from './deps.ts'
import { describeAttestation } from './describe-attestation.ts'
import { prepareAttestation } from './prepare-attestation.ts'
import {
  attestationId,
  attestationSchema,
  attestBody,
  claimBody,
  claimSourcesMax,
  exampleAttestation,
  exampleWallet,
} from './schemas.ts'
import { type SourceUrl, sourceUrl } from './source-url.ts'
import { findAttestation } from './store.ts'
import { withProof } from './with-proof.ts'

export type AttestRouteDeps = AttestDeps & {
  witnessKeys(): readonly string[]
  /** Why nothing can be logged now. */
  logUnavailable(): Unavailable | undefined
}

export function attestRoutes(deps: AttestRouteDeps): RouteDeclaration[] {
  return [attestRoute(deps), claimRoute(deps), showRoute(deps)]
}

function attestRoute(deps: AttestRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'cite.attest',
    capability: 'citations.attest',
    area: 'C',
    method: 'POST',
    path: '/v1/cite/attest',
    summary: 'Stamp a citation: signed, logged, and its creator gets 90 % of the price',
    description:
      'The page is read, the quote looked for, and the citation becomes a signed attestation (EIP-712, compatible with EAS) in an append-only log. Of the price (0.005 USD, or what the creator asks, 1 at most) 90 % accrue for the creator. It says that these bytes were served then and who paid to cite them, never that they are true. A page that cannot be read is not charged.',
    body: attestBody,
    output: attestationSchema,
    example: {
      body: { source_url: 'https://example.com/a', agent_wallet: exampleWallet },
      output: exampleAttestation,
    },
    next: '/v1/attestations/att_01jcxk6v3q8m5r7t9w2y4z6a8c',
    nextBefore: '/v1/match',
    access: {
      ...saleTerms(deps),
      price: {
        kind: 'fixed',
        micro: citationMicro,
        more: {
          highestMicro: priceMicroMax,
          of: ({ body }) => dearer(deps, () => [sourceUrl(body.source_url, deps.domains)]),
        },
      },
      prepare: ({ body }, call) => prepareAttestation(deps, body, call),
      commitMany: (tx, sales, unposted) => commitAttestations(deps, tx, sales, unposted),
    },
  })
}

function claimRoute(deps: AttestRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'claims.anchor',
    capability: 'citations.claim.anchor',
    area: 'C',
    method: 'POST',
    path: '/v1/claims/anchor',
    summary: 'Anchor a statement with the sources it rests on: signed, logged, its creators paid',
    description:
      'Only the digest of the statement is kept. The record says that this agent tied this statement to these bytes at this time, never that it is true. The toll is 10 %; the rest goes to the sources in equal parts, what cannot be divided to the first. What a creator asks beyond 0.005 USD is added, for that creator. Nothing is charged if a source cannot be read.',
    body: claimBody,
    output: attestationSchema,
    example: {
      body: {
        statement: 'The index rose by two percent.',
        sources: ['https://example.com/a'],
        agent_wallet: exampleWallet,
      },
      output: exampleAttestation,
    },
    next: '/v1/attestations/att_01jcxk6v3q8m5r7t9w2y4z6a8c',
    nextBefore: '/v1/match',
    access: {
      ...saleTerms(deps),
      price: {
        kind: 'fixed',
        micro: citationMicro,
        more: {
          highestMicro: priceMicroMax * BigInt(claimSourcesMax),
          of: ({ body }) => dearer(deps, () => (body.sources as string[]).map((text) => sourceUrl(text, deps.domains))),
        },
      },
      prepare: ({ body }, call) => prepareClaim(deps, body, call),
      commitMany: (tx, sales, unposted) => commitClaims(deps, tx, sales, unposted),
    },
  })
}

const saleTerms = (deps: AttestRouteDeps) =>
  ({
    kind: 'paid',
    networks: [deps.network],
    payee: 'custody',
    revocable: false,
    unavailable: deps.logUnavailable,
    release: withProof(deps),
  }) as const

/** Undefined where nobody asks for more than usual, and where `prepare` refuses what was asked for. */
async function dearer(deps: AttestDeps, pages: () => SourceUrl[]): Promise<Micro | undefined> {
  try {
    const micro = claimPrice(await attestPrices(deps.keptTerms, pages()))
    return micro > citationMicro ? micro : undefined
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

function showRoute(deps: AttestRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'attestations.show',
    mcp: 'both',
    main: true,
    capability: 'citations.attestation.show',
    area: 'C',
    method: 'GET',
    path: '/v1/attestations/:id',
    summary: 'An attestation with its proofs, and what became of the payout',
    description:
      'Everything `assay verify` needs to check it offline: signature, record, inclusion in the log, tree head, witnesses.',
    params: z.strictObject({ id: attestationId }),
    output: attestationSchema,
    example: { params: { id: exampleAttestation.id }, output: exampleAttestation },
    next: '/v1/log',
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        const row = await findAttestation(deps.database, params.id)
        if (!row) throw new Problem('not_found', { detail: 'There is no such attestation.' })
        return jsonAnswer(await describeAttestation(deps, row))
      },
    },
  })
}
