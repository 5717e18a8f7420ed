import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { mandateId, mandateStatement } from '@assay/till/credit/mandates/mandate-statement'
import { type MandateBody, mandateBody, parseMandate } from '@assay/till/credit/mandates/parse-mandate'
import {
  confirmMandate,
  countOpen,
  findMandate,
  insertMandate,
  listMandates,
  type MandatePage,
  type MandateView,
  revokeMandate,
} from '@assay/till/credit/mandates/store'
import { mandateIdPattern } from '@assay/till/internal'
import { Problem } from '@assay/till/kernel/problem'
import { verifyStatement } from '@assay/till/proofs'
import { z } from 'zod'
import {
  type CallContext,
  defineRoute,
  jsonAnswer,
  pageLimit,
  type RouteDeclaration,
  signerOf,
} from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import { accountProblems } from './problems.ts'

export type MandateDeps = Pick<ShopContext, 'database' | 'clock' | 'proofs' | 'baseUrl' | 'base'>

const openMax = 100
const pageMax = 50

const view = z.strictObject({
  id: z.string(),
  owner: z.string(),
  delegate: z.string(),
  chain_id: z.number(),
  routes: z.array(z.string()),
  cap_per_call_micro: z.string(),
  cap_per_day_micro: z.string(),
  cap_total_micro: z.string(),
  drawn_today_micro: z.string().describe('Drawn or held in this UTC day.'),
  drawn_total_micro: z.string(),
  expires_at: z.string(),
  nonce: z.string(),
  state: z
    .enum(['open', 'unconfirmed', 'expired', 'revoked'])
    .describe('Unconfirmed: the database was restored, and it draws nothing until its owner sends it again.'),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
})

const exampleBody = {
  owner: '0x1111111111111111111111111111111111111111',
  delegate: '0x2222222222222222222222222222222222222222',
  routes: ['sandbox.echo.*', '/v1/report/*'],
  cap_per_call_micro: '50000',
  cap_per_day_micro: '500000',
  cap_total_micro: '1000000',
  expires_at: '2026-12-31T00:00:00Z',
  nonce: `0x${'0'.repeat(63)}1`,
}

const exampleView: MandateView = {
  id: `mdt_${'0'.repeat(40)}`,
  chain_id: 8453,
  ...exampleBody,
  drawn_today_micro: '0',
  drawn_total_micro: '0',
  state: 'open',
  created_at: '2026-12-01T00:00:00.000Z',
  revoked_at: null,
}

/** Letting somebody else draw on one's credit, within limits, until revoked. */
export function mandateRoutes(deps: MandateDeps): RouteDeclaration[] {
  return [createRoute(deps), listRoute(deps), revokeRoute(deps)]
}

function createRoute(deps: MandateDeps): RouteDeclaration {
  return defineRoute({
    id: 'mandates.create',
    area: 'core',
    method: 'POST',
    path: '/v1/mandates',
    summary: 'Let another wallet draw on your credit, within limits that you sign',
    description:
      'EIP-712 Mandate in the domain of this node (name Assay, version 1, salt keccak256 of BASE_URL), signed by the owner; contract wallets too. Anyone who has it may present it; presenting it again changes nothing. A request that the owner signs (ERC-8128) confirms it: after a restore of the database, only confirmed mandates draw.',
    body: mandateBody,
    output: view,
    example: { body: { ...exampleBody, signature: `0x${'11'.repeat(65)}` }, output: exampleView },
    next: '/v1/credit/topup',
    cost: 5,
    access: {
      kind: 'free',
      handle: async (input, call) => jsonAnswer(await createMandate(deps, input.body as MandateBody, call)),
    },
  })
}

async function createMandate(deps: MandateDeps, body: MandateBody, call: CallContext): Promise<MandateView> {
  const nowMs = deps.clock.nowMs()
  const mandate = parseMandate(body, deps.baseUrl, nowMs)
  const chainId = body.chain_id ?? deps.base.chainId
  const signature = body.signature.toLowerCase() as Hex
  const proven = await verifyStatement(deps.proofs, {
    node: deps.baseUrl,
    account: { chainId, address: mandate.owner },
    statement: mandateStatement(mandate),
    signature,
  })
  const id = mandateId(mandate, chainId)
  const signer = call.headers.has('signature-input') ? await signerOf(deps, call) : undefined
  const outcome = await deps.database.transaction(async (tx) => {
    if ((await countOpen(tx, mandate.owner, nowMs)) >= openMax && !(await findMandate(tx, id, nowMs))) return 'too_many'
    const inserted = await insertMandate(tx, { id, mandate, chainId, ownerKind: proven.kind, signature }, nowMs)
    if (inserted !== 'nonce_used' && signer && isOwner(signer, mandate.owner, chainId)) await confirmMandate(tx, id)
    return inserted
  })
  if (outcome === 'nonce_used') throw new Problem(accountProblems.mandate_conflict)
  if (outcome === 'too_many')
    throw new Problem('mandate_invalid', { detail: `A wallet has at most ${openMax} open mandates; revoke one first.` })
  return (await findMandate(deps.database, id, nowMs))?.view as MandateView
}

function listRoute(deps: MandateDeps): RouteDeclaration {
  return defineRoute({
    id: 'mandates.list',
    area: 'core',
    method: 'GET',
    path: '/v1/mandates',
    summary: 'Mandates that the signing wallet gave or was given, newest first',
    query: z.strictObject({
      state: z.enum(['open', 'all']).describe('Only those that still count, unless all are asked for.').optional(),
      limit: pageLimit(pageMax, pageMax),
      cursor: z.string().max(200).optional(),
    }),
    output: z.strictObject({ data: z.array(view), next_cursor: z.string().nullable() }),
    example: { query: { state: 'open' }, output: { data: [exampleView], next_cursor: null } },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const before = parseCursor(input.query.cursor)
        const { address: wallet } = await signerOf(deps, call)
        const page: MandatePage = { wallet, ended: input.query.state === 'all', before }
        const limit = Number(input.query.limit ?? pageMax)
        const data = await listMandates(deps.database, page, limit + 1, deps.clock.nowMs())
        const shown = data.slice(0, limit)
        const last = data.length > limit ? shown.at(-1) : undefined
        return jsonAnswer({ data: shown, next_cursor: last === undefined ? null : cursorOf(last) })
      },
    },
  })
}

const cursorOf = ({ created_at, id }: MandateView): string =>
  Buffer.from(`${Date.parse(created_at)} ${id}`).toString('base64url')

export function parseCursor(cursor: string | undefined): MandatePage['before'] {
  if (cursor === undefined) return undefined
  const [, ms, id] =
    /^([0-9]{1,15}) (mdt_[0-9a-f]{40})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (ms === undefined || id === undefined)
    throw new Problem('input_invalid', { detail: 'query.cursor is not one of this node' })
  return { createdAtMs: Number(ms), id }
}

function revokeRoute(deps: MandateDeps): RouteDeclaration {
  return defineRoute({
    id: 'mandates.revoke',
    area: 'core',
    method: 'DELETE',
    path: '/v1/mandates/:id',
    summary: 'Revoke a mandate; the next draw under it is refused',
    description: 'The request is signed by the owner (ERC-8128). A mandate that was revoked cannot be opened again.',
    params: z.strictObject({ id: z.string().regex(mandateIdPattern, 'must be the id of a mandate') }),
    output: view,
    example: {
      params: { id: exampleView.id },
      output: { ...exampleView, state: 'revoked', revoked_at: '2026-12-02T00:00:00.000Z' },
    },
    next: '/v1/mandates',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const signer = await signerOf(deps, call)
        const nowMs = deps.clock.nowMs()
        const found = await findMandate(deps.database, input.params.id, nowMs)
        if (!found) throw new Problem('mandate_unknown')
        if (!isOwner(signer, found.owner, found.view.chain_id))
          throw new Problem('forbidden', { detail: 'Only the owner of a mandate can revoke it.' })
        await revokeMandate(deps.database, input.params.id, nowMs)
        return jsonAnswer((await findMandate(deps.database, input.params.id, nowMs))?.view)
      },
    },
  })
}

/** The contract at the owner's address on another chain may be somebody else's. */
const isOwner = (signer: ProvenAccount, owner: Address, chainId: number): boolean =>
  signer.address === owner && (signer.kind === 'key' || signer.chainId === chainId)
