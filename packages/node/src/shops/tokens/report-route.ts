import { type Address, parseAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import { reportHash } from '@assay/protocol/typed-data/control-attestation'
import type { PreparedAnswer } from '@assay/till/internal'
import { keccak256 } from '@assay/till/kernel/keccak'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { type CallContext, defineRoute, type RouteDeclaration, type RouteInput } from '../../http/index.ts'
import type { Checked, Checker } from './checker.ts'
import { exampleChecked } from './example.ts'
import type { Panel } from './read/panel.ts'
import type { Attester } from './report/attest.ts'
import { buildReport } from './report/build-report.ts'
import { readProof } from './report/read-proof.ts'
import { htmlHeaders, renderHtml } from './report/render-html.ts'
import { renderMarkdown, type SignedReport } from './report/render-markdown.ts'
import { renderPdf } from './report/render-pdf.ts'
import * as shapes from './schemas.ts'
import { validUntil } from './show.ts'

export type ReportRouteDeps = {
  checker: Checker
  attester: Attester
  panel(): Promise<Panel>
  network: string
  baseUrl: string
  synthetic: boolean
  priceMicro: Micro
}

const anyObject = z.record(z.string(), z.unknown())
const reportOutput = z.looseObject({
  format: z.literal('assay-b20-report'),
  version: z.literal(1),
  address: z.string(),
  chain_id: z.int(),
  network: z.string(),
  verdict: shapes.verdict,
  summary: z.string(),
  complete: z.boolean(),
  block: shapes.block.extend({ state_root: z.string() }),
  fork: shapes.fork,
  valid_until_at: z.string(),
  supply: anyObject,
  powers: shapes.powers,
  flags: z.array(shapes.flag),
  unreachable: shapes.unreachable,
  roles: z.array(anyObject),
  scopes: z.array(anyObject),
  policies: z.array(anyObject),
  seize_paths: z.array(anyObject),
  genesis: anyObject.nullable(),
  history: z.array(anyObject),
  questions: z.array(z.string()),
  completeness: shapes.completeness,
  attestation: anyObject.describe('EIP-712 over chain, token, block, verdict, completeness and report hash.'),
  proof: anyObject.optional().describe('eth_getProof of the slots behind the verdict, with proof=1.'),
})

const htmlType = 'text/html; charset=utf-8'
const pdfType = 'application/pdf'
const markdownType = 'text/markdown; charset=utf-8'

export function reportRoute(deps: ReportRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'tokens.report',
    mcp: 'both',
    capability: 'token.control.report',
    area: 'A',
    method: 'GET',
    path: '/v1/report/:address',
    summary: 'Full report on who controls a B20 token, with evidence and an attestation',
    description:
      'Every holder with log and view, role admins, policy trees, seize paths, supply, genesis, history and questions, as JSON, Markdown, HTML or PDF. Verifiable offline and on chain. Nothing is charged for what is no B20 token (404), malformed (400) or cannot be read completely (503).',
    params: shapes.addressParams,
    query: z.strictObject({
      proof: z.enum(['0', '1']).optional().describe('1 adds eth_getProof evidence.'),
    }),
    representations: ['application/json', markdownType, htmlType, pdfType],
    output: reportOutput,
    example: {
      params: { address: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa' },
      output: { ...buildReport(exampleChecked(), options(deps)), attestation: {} },
    },
    next: '/v1/tokens/:address/changes',
    access: {
      kind: 'paid',
      price: { kind: 'fixed', micro: deps.priceMicro },
      networks: [deps.network],
      payee: 'pay_to',
      revocable: false,
      prepare: (input, call) => prepareReport(deps, input, call),
    },
  })
}

const options = ({ network, baseUrl, synthetic }: ReportRouteDeps) => ({ network, node: baseUrl, synthetic })

async function prepareReport(deps: ReportRouteDeps, input: RouteInput, call: CallContext): Promise<PreparedAnswer> {
  const token = parseAddress(input.params.address) as Address
  const checked = await deps.checker.check(token, { fresh: true, whole: true })
  refuseIncomplete(checked)
  const report = buildReport(checked, options(deps))
  const content = {
    ...report,
    ...(input.query.proof === '1' ? { proof: await readProof(await deps.panel(), checked.facts, report) } : {}),
  }
  const { facts, evaluation } = checked
  const attestation = await deps.attester.attest({
    chainId: facts.chainId,
    token,
    blockNumber: facts.block.number,
    blockHash: facts.block.hash,
    verdict: evaluation.verdict,
    complete: evaluation.complete,
    reportHash: reportHash(content as unknown as { [key: string]: Json }, keccak256),
    validUntil: validUntil(facts),
  })
  return { answer: await render({ ...content, attestation }, call.representation) }
}

/** Half a report is not sold: the free check says as much, and what is missing may be there in a moment. */
function refuseIncomplete({ evaluation }: Checked): void {
  if (evaluation.complete) return
  throw new Problem('upstream_unavailable', {
    detail: 'Not everything about this token could be read or proven, so there is no report to sell.',
    hint: 'Nothing was charged. GET /v1/check/{address} shows what is known; try again later.',
    extra: { reason: 'incomplete', verdict: evaluation.verdict, missing: evaluation.missing.slice(0, 20) },
    retryAfterSeconds: 10,
  })
}

async function render(report: SignedReport, representation: string): Promise<PreparedAnswer['answer']> {
  const base = { status: 200, contentType: representation }
  if (representation === htmlType) return { ...base, body: renderHtml(report), headers: htmlHeaders }
  if (representation === pdfType) return { ...base, body: await renderPdf(report) }
  if (representation === markdownType) return { ...base, body: renderMarkdown(report) }
  return { ...base, body: JSON.stringify(report) }
}
