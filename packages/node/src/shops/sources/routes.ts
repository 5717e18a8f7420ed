import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../../http/index.ts'
import type { SourceDeps } from './deps.ts'
import { exampleAt, exampleSource, exampleSummary, exampleWallet } from './examples.ts'
import { sourceProblems } from './problems.ts'
import { changeWallet } from './register/change-wallet.ts'
import { describeSource } from './register/describe-source.ts'
import { listSources } from './register/list-sources.ts'
import { recordDispute } from './register/record-dispute.ts'
import { type SourceState, sourceStates } from './register/records.ts'
import { registerSource, requireSource } from './register/register-source.ts'
import { claimOfWallet, proveWallet, verifySource } from './register/verify-source.ts'
import { contactInput, disputeSchema, domainInput, listSchema, sourceSchema, walletInput } from './schemas.ts'
import { scoreSources } from './score/score-sources.ts'
import { termsRoutes } from './terms/routes.ts'

const params = z.strictObject({ domain: domainInput })
const exampleParams = { domain: 'example.com' }

export function sourceRoutes(deps: SourceDeps): RouteDeclaration[] {
  return [
    registerRoute(deps),
    listRoute(deps),
    showRoute(deps),
    verifyRoute(deps),
    walletRoute(deps),
    disputeRoute(deps),
    ...termsRoutes(deps),
  ]
}

async function answer(deps: SourceDeps, domain: string, wallet?: Address) {
  const described = await describeSource(deps, domain, wallet)
  if (!described) throw new Problem(sourceProblems.source_unknown, { detail: `${domain} is not registered here.` })
  return jsonAnswer(described)
}

const addressOf = (text: string): Address => {
  const address = parseAddress(text)
  if (!address) throw new Problem('input_invalid', { detail: 'wallet is not an address.' })
  return address
}

function registerRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.register',
    main: true,
    capability: 'citations.source.register',
    area: 'C',
    method: 'POST',
    path: '/v1/sources/register',
    summary: 'Register a domain to be cited and paid for it, free of charge',
    description:
      'Anybody may register any domain; only who proves it is paid. The answer has the exact values to publish, in DNS, in a file or in a meta tag, and a first CiteScore. Registering again changes nothing.',
    body: z.strictObject({
      domain: domainInput,
      wallet: walletInput,
      contact: contactInput.optional(),
      sitemap: z.string().max(2_048).optional(),
    }),
    output: sourceSchema,
    example: { body: { domain: 'example.com', wallet: exampleWallet }, output: exampleSource },
    next: '/v1/sources/example.com',
    nextBefore: '/v1/sources',
    cost: 5,
    access: {
      kind: 'free',
      handle: async ({ body }) => {
        const wallet = addressOf(body.wallet)
        const { domain } = await registerSource(deps, {
          domain: body.domain,
          wallet,
          contact: body.contact,
          sitemap: body.sitemap,
        })
        await scoreSources(deps, [domain])
        return answer(deps, domain, wallet)
      },
    },
  })
}

function listRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.list',
    capability: 'citations.source.list',
    area: 'C',
    method: 'GET',
    path: '/v1/sources',
    summary: 'Registered sources, best CiteScore first',
    query: z.strictObject({
      state: z.enum(sourceStates as [SourceState, ...SourceState[]]).optional(),
      score_min: z
        .string()
        .regex(/^(?:\d{1,2}|100)$/, 'must be 0 to 100')
        .optional(),
      search: z.string().min(1).max(253).optional().describe('Part of the domain.'),
      limit: z
        .string()
        .regex(/^(?:[1-9]\d?|100)$/, 'must be 1 to 100')
        .optional(),
      cursor: z.string().max(500).optional(),
    }),
    output: listSchema,
    example: { query: { limit: '10' }, output: { data: [exampleSummary], next_cursor: null } },
    next: '/v1/sources/register',
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const page = await listSources(deps.database, {
          state: query.state,
          scoreMin: query.score_min === undefined ? undefined : Number(query.score_min),
          search: query.search,
          limit: Number(query.limit ?? 20),
          cursor: query.cursor,
        })
        if (!page) throw fieldProblem('query.cursor', 'is not valid: start again without it')
        return jsonAnswer(page)
      },
    },
  })
}

function showRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.show',
    mcp: 'resource',
    capability: 'citations.source.show',
    area: 'C',
    method: 'GET',
    path: '/v1/sources/:domain',
    summary: 'One source: state, proof, CiteScore with its evidence, licence, earnings',
    description: 'With `wallet` the answer also has what that claimant has to publish, and what the last check found.',
    params,
    query: z.strictObject({ wallet: walletInput.optional() }),
    output: sourceSchema,
    example: { params: exampleParams, output: exampleSource },
    next: '/v1/sources',
    access: {
      kind: 'free',
      handle: async (input) => {
        const source = await requireSource(deps, input.params.domain)
        return answer(deps, source.domain, input.query.wallet === undefined ? undefined : addressOf(input.query.wallet))
      },
    },
  })
}

function verifyRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.verify',
    capability: 'citations.source.verify',
    area: 'C',
    method: 'POST',
    path: '/v1/sources/:domain/verify',
    summary: 'Look at the domain now: proof, pages and score',
    description:
      'Asks DNS through two resolvers, the well-known file and the home page, and visits the pages again. With `wallet_signature` the payout wallet proves itself.',
    params,
    body: z.strictObject({
      wallet: walletInput.optional().describe('Whose claim is meant. Default: the holder.'),
      wallet_signature: z
        .string()
        .regex(/^0x(?:[0-9a-fA-F]{2}){65,4096}$/, 'must be a signature in hex')
        .optional(),
    }),
    output: sourceSchema,
    example: { params: exampleParams, body: {}, output: exampleSource },
    next: '/v1/sources/:domain',
    cost: 10,
    access: {
      kind: 'free',
      handle: async ({ params, body }) => {
        const source = await requireSource(deps, params.domain)
        await verifySource(deps, source.domain)
        const wallet =
          body.wallet === undefined
            ? (await claimOfWallet(deps, source.domain, undefined))?.wallet
            : addressOf(body.wallet)
        if (body.wallet_signature !== undefined && wallet)
          await proveWallet(deps, { domain: source.domain, wallet }, body.wallet_signature as Hex)
        await scoreSources(deps, [source.domain])
        return answer(deps, source.domain, wallet)
      },
    },
  })
}

/** Optional: a change signed by the wallet that is paid now waits less, a dispute signed by a proven one has its own place. */
async function walletOf(deps: SourceDeps, call: CallContext): Promise<Address | undefined> {
  if (!call.headers.has('signature-input')) return undefined
  return (await signerOf(deps, call)).address
}

function walletRoute(deps: SourceDeps): RouteDeclaration {
  return defineRoute({
    id: 'sources.wallet',
    capability: 'citations.source.wallet',
    area: 'C',
    method: 'POST',
    path: '/v1/sources/:domain/wallet',
    summary: 'Change the payout wallet of a proven domain',
    description:
      'Needs a new proof with the values in the answer. If the request is signed (ERC-8128) by the wallet that is paid now, the change takes effect after three days; otherwise it is a dispute with seven days of notice.',
    params,
    body: z.strictObject({ wallet: walletInput, contact: contactInput.optional() }),
    output: sourceSchema,
    example: { params: exampleParams, body: { wallet: exampleWallet }, output: exampleSource },
    next: '/v1/sources/:domain/verify',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ params, body }, call) => {
        const source = await requireSource(deps, params.domain)
        const wallet = addressOf(body.wallet)
        await changeWallet(deps, {
          domain: source.domain,
          wallet,
          contact: body.contact,
          signedBy: await walletOf(deps, call),
        })
        return answer(deps, source.domain, wallet)
      },
    },
  })
}

function disputeRoute(deps: SourceDeps): RouteDeclaration {
  const kinds = ['ownership', 'content', 'licence', 'score', 'other'] as const
  return defineRoute({
    id: 'sources.dispute',
    capability: 'citations.source.dispute',
    area: 'C',
    method: 'POST',
    path: '/v1/sources/:domain/dispute',
    summary: 'Contest a source, its score or its owner, with evidence',
    description:
      'Recorded for the operator. Signed (ERC-8128) by the wallet of a proven claim, it has its own place in the queue. It lowers no score by itself: a contest of ownership counts once its own proof is published, any other once the operator takes it up.',
    params,
    body: z.strictObject({
      kind: z.enum(kinds),
      statement: z.string().min(10).max(4_000),
      evidence_url: z
        .url({ protocol: /^https?$/ })
        .max(2_048)
        .optional(),
      contact: contactInput.optional(),
    }),
    output: disputeSchema,
    example: {
      params: exampleParams,
      body: {
        kind: 'content',
        statement: 'The article of 3 May was withdrawn by its author.',
        evidence_url: 'https://example.org/notice',
      },
      output: {
        id: 'dsp_06d1z8k4q2v7e9m3x5c0w8r2t4',
        domain: 'example.com',
        kind: 'content',
        state: 'received',
        opened_at: exampleAt,
        note: 'Recorded.',
      },
    },
    next: '/v1/sources/:domain',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ params, body }, call) => {
        const source = await requireSource(deps, params.domain)
        const { id, openedAt } = await recordDispute(deps, {
          domain: source.domain,
          kind: body.kind,
          statement: body.statement,
          evidenceUrl: body.evidence_url,
          contact: body.contact,
          signedBy: await walletOf(deps, call),
        })
        const note =
          body.kind === 'ownership'
            ? 'Recorded. To contest ownership with effect, register the domain with your wallet and publish its proof: that opens a dispute with notice.'
            : 'Recorded. The operator reads it; it changes the score only when it is accepted.'
        return jsonAnswer({
          id,
          domain: source.domain,
          kind: body.kind,
          state: 'received',
          opened_at: openedAt.toISOString(),
          note,
        })
      },
    },
  })
}
