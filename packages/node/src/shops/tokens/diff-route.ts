import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { scopeNames } from './abi/b20.ts'
import { showToken } from './check-answer.ts'
import type { Checked, Checker } from './checker.ts'
import { powerNames } from './evaluate/types.ts'
import { exampleChecked } from './example.ts'
import { describeEvent, historyOf } from './report/describe-event.ts'
import * as shapes from './schemas.ts'
import { show, showBlock, showNumber } from './show.ts'

export type DiffRouteDeps = { checker: Checker; network: string; synthetic: boolean }

const side = z.strictObject({ block: shapes.block, verdict: shapes.verdict, complete: z.boolean() })
const output = z.strictObject({
  address: z.string(),
  network: z.string(),
  synthetic: z.literal(true).optional().describe('Demo data.'),
  from: side,
  to: side,
  changes: z
    .array(z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() }))
    .describe('Every field of the check that differs.'),
  events: z.array(z.record(z.string(), z.unknown())).describe('What happened after `from`, up to and with `to`.'),
})

export function diffRoute(deps: DiffRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'tokens.diff',
    capability: 'token.control.diff',
    area: 'A',
    method: 'GET',
    path: '/v1/check/:address/diff',
    summary: 'What changed in the control of a B20 token between two blocks',
    description:
      'Both blocks are read like a check; fields that differ are listed with both values, and the events between them in order. 503 where the endpoints do not keep the state of the older block.',
    params: shapes.addressParams,
    query: z.strictObject({
      from: shapes.blockNumber.describe('The older block.'),
      to: shapes.blockNumber.optional().describe('The newer block. Default: the newest.'),
    }),
    output,
    example: {
      params: { address: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa' },
      query: { from: '53600000' },
      output: diffOf(exampleChecked(), exampleChecked(), { network: 'eip155:8453', synthetic: false }),
    },
    next: '/v1/report/:address',
    cost: 4,
    access: {
      kind: 'free',
      handle: async (input) => {
        const token = parseAddress(input.params.address) as Address
        const { from, to } = input.query as { from: string; to?: string }
        const older = await deps.checker.pastBlock(BigInt(from))
        const newer = to === undefined ? await deps.checker.currentBlock() : await deps.checker.pastBlock(BigInt(to))
        const [before, after] = await Promise.all([
          deps.checker.checkAt(token, older),
          deps.checker.checkAt(token, newer),
        ])
        return jsonAnswer(diffOf(before, after, deps))
      },
    },
  })
}

export function diffOf(before: Checked, after: Checked, options: { network: string; synthetic: boolean }) {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const text = (value: unknown) => JSON.stringify(value ?? null)
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return {
    address: checksumAddress(after.facts.token),
    network: options.network,
    ...(options.synthetic ? { synthetic: true } : {}),
    from: sideOf(before),
    to: sideOf(after),
    changes: names
      .filter((name) => text(old[name]) !== text(now[name]))
      .map((name) => ({ field: name, before: old[name] ?? null, after: now[name] ?? null })),
    events: historyOf(after.facts)
      .filter(({ blockNumber }) => blockNumber > before.facts.block.number)
      .map((event) => describeEvent(event)),
  }
}

const sideOf = ({ facts, evaluation }: Checked) => ({
  block: showBlock(facts.block),
  verdict: evaluation.verdict,
  complete: evaluation.complete,
})

/** What is compared, by name; parties in their own order, so that only who it is matters. */
function fieldsOf(checked: Checked): Record<string, unknown> {
  const { facts, evaluation } = checked
  const fields: Record<string, unknown> = { verdict: evaluation.verdict, complete: evaluation.complete }
  for (const [name, value] of Object.entries(showToken(checked))) fields[`token.${name}`] = value
  fields.admin_count = showNumber(facts.adminCount)
  fields.paused = show(facts.paused, (features) => features)
  for (const name of scopeNames) {
    const bound = facts.scopes[name]
    fields[`scopes.${name}`] = bound === undefined ? null : showNumber(bound)
  }
  const accounts = (parties: readonly { account: Address }[]) =>
    parties.map(({ account }) => checksumAddress(account)).sort()
  for (const name of powerNames) {
    const power = evaluation.powers[name]
    fields[`powers.${name}.now`] = power.now
    fields[`powers.${name}.exercised`] = power.exercised
    fields[`powers.${name}.who`] = accounts(power.who)
    fields[`powers.${name}.could_become`] = accounts(power.couldBecome)
  }
  fields.flags = evaluation.flags.map(({ code }) => code)
  return fields
}
