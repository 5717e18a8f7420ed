import type { Micro } from '@assay/protocol/money'
import type { ReleaseAnswer } from '@assay/till/internal'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type Unavailable } from '../../../http/index.ts'
import { proofAfterCommit } from '../../../tlog/index.ts'
import { citationMicro, priceMicroMax } from '../../sources/index.ts'
import { commitClaims, prepareClaim } from './anchor-claim.ts'
import { attestPrices, claimPrice } from './attest-price.ts'
import { commitAttestations } from './commit-attestation.ts'
import type { AttestDeps } from './deps.ts'
import { type AttestationView, describeAttestation, withKeys } from './describe-attestation.ts'
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
      kind: 'paid',
      price: {
        kind: 'fixed',
        micro: citationMicro,
        more: {
          highestMicro: priceMicroMax,
          of: ({ body }) => dearer(deps, () => [sourceUrl(body.source_url, deps.domains)]),
        },
      },
      networks: [deps.network],
      payee: 'custody',
      revocable: false,
      unavailable: deps.logUnavailable,
      prepare: ({ body }, call) => prepareAttestation(deps, body, call),
      commitMany: (tx, sales) => commitAttestations(deps, tx, sales),
      release: withProof(deps),
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
      kind: 'paid',
      price: {
        kind: 'fixed',
        micro: citationMicro,
        more: {
          highestMicro: priceMicroMax * BigInt(claimSourcesMax),
          of: ({ body }) => dearer(deps, () => (body.sources as string[]).map((text) => sourceUrl(text, deps.domains))),
        },
      },
      networks: [deps.network],
      payee: 'custody',
      revocable: false,
      unavailable: deps.logUnavailable,
      prepare: ({ body }, call) => prepareClaim(deps, body, call),
      commitMany: (tx, sales) => commitClaims(deps, tx, sales),
      release: withProof(deps),
    },
  })
}

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

/** The entry gets its place in the log right after the commit; the answer waits for it and carries the proof. */
export function withProof(deps: AttestRouteDeps): ReleaseAnswer {
  return async (answer) => {
    try {
      const { id, url, before } = openEnd(String(answer.body))
      const proof = await proofAfterCommit(deps, id)
      // The citation is valid without it, and its own address returns the proof soon after.
      if (!proof) deps.log.warn({ attestation: id }, 'a proof from the log was not ready')
      return { ...answer, body: `${before}${JSON.stringify(withKeys(deps, url, proof))}}` }
    } catch (error) {
      // It is paid for: whatever it is, it is given.
      deps.log.error({ error: String(error) }, 'a proof could not be put into an answer')
      return answer
    }
  }
}

const logKey = ',"log":'

/** The view begins with its id and url and ends with its log, so that only these are read and replaced. */
function openEnd(body: string): { id: string; url: string; before: string } {
  const end = body.lastIndexOf(logKey)
  const { state } = JSON.parse(body.slice(end + logKey.length, -1)) as AttestationView['log']
  const [, id, url] = /^\{"id":"([a-z0-9_]+)","url":("[^"]*")/.exec(body) ?? []
  if (end < 0 || state !== 'pending' || id === undefined || url === undefined) throw new Error('not an attestation')
  return { id, url: JSON.parse(url) as string, before: body.slice(0, end + logKey.length) }
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
        return jsonAnswer(await describeAttestation(deps, row, { proof: 'witnessed' }))
      },
    },
  })
}
