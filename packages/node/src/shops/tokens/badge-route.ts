import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { escapeMarkup } from '@assay/protocol/escape-markup'
import type { JwsPort } from '@assay/till/internal'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'
import type { Checked, Checker } from './checker.ts'
import type { Verdict } from './evaluate/types.ts'
import { exampleChecked } from './example.ts'
import { addressParams } from './schemas.ts'
import { showBlock, validUntil } from './show.ts'

export type BadgeDeps = {
  checker: Checker
  jws: JwsPort
  clock: Clock
  network: string
  baseUrl: string
  synthetic: boolean
}

const svgType = 'image/svg+xml'
const colors: Record<Verdict, string> = {
  LOCKED: '#15803d',
  PARTIALLY_CONTROLLED: '#b45309',
  ISSUER_CONTROLLED: '#b91c1c',
  UNKNOWN: '#475569',
}

/** Nothing in it may run or load, wherever it is embedded. */
const headers = {
  'Content-Security-Policy': "default-src 'none'; style-src 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

export function badgeRoute(deps: BadgeDeps): RouteDeclaration {
  return defineRoute({
    id: 'tokens.badge',
    capability: 'token.control.badge',
    area: 'A',
    method: 'GET',
    path: '/v1/badge/:address',
    summary: 'The verdict on a B20 token as an SVG image',
    description:
      'For pages about a token: verdict, block and age. The image carries a signed statement (compact JWS) in its metadata, so that a copy can be verified.',
    params: addressParams,
    representations: [svgType],
    output: z.string(),
    example: {
      params: { address: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa' },
      output: renderBadge(exampleChecked(), 'eyJ…', 2),
    },
    next: '/v1/check/:address',
    cost: 2,
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async (input) => {
        const checked = await deps.checker.check(parseAddress(input.params.address) as Address)
        const ageSeconds = Math.max(0, Math.floor(deps.clock.nowMs() / 1000) - checked.facts.block.timestamp)
        const body = renderBadge(checked, deps.jws.sign(statementOf(deps, checked)), ageSeconds)
        return { status: 200, contentType: svgType, body, headers }
      },
    },
  })
}

function statementOf({ network, baseUrl, synthetic }: BadgeDeps, { facts, evaluation }: Checked) {
  return {
    type: 'assay-badge',
    node: baseUrl,
    network,
    ...(synthetic ? { synthetic: true } : {}),
    address: checksumAddress(facts.token),
    verdict: evaluation.verdict,
    complete: evaluation.complete,
    block: showBlock(facts.block),
    valid_until_at: toRfc3339(validUntil(facts) * 1000),
  }
}

const characterWidth = 6.6

export function renderBadge({ facts, evaluation }: Checked, statement: string, ageSeconds: number): string {
  const label = 'B20 control'
  const verdict = `${evaluation.verdict}${evaluation.complete ? '' : ' (incomplete)'}`
  const read = `block ${facts.block.number}, ${ageSeconds} s old`
  const widths = [label, verdict, read].map((text) => Math.round(text.length * characterWidth) + 14) as [
    number,
    number,
    number,
  ]
  const [first, second, third] = widths
  const part = (x: number, width: number, fill: string, text: string) =>
    `<rect x="${x}" width="${width}" height="20" fill="${fill}"/><text x="${x + width / 2}" y="14" fill="#fff" text-anchor="middle">${escapeMarkup(text)}</text>`
  const title = `${label} of ${checksumAddress(facts.token)}: ${verdict}, ${read}`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${first + second + third}" height="20" role="img" aria-label="${escapeMarkup(title)}" font-family="Verdana, sans-serif" font-size="11"><title>${escapeMarkup(title)}</title><metadata>${escapeMarkup(statement)}</metadata>${part(0, first, '#334155', label)}${part(first, second, colors[evaluation.verdict], verdict)}${part(first + second, third, '#64748b', read)}</svg>`
}
