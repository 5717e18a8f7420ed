import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { ageText, printResult } from '../output.ts'
import { amountText } from './amount-text.ts'
import type { Operator } from './connect.ts'

type Check = { name: string; ok: boolean; detail: string }

/** A clearing account may hold something for the moment a payment takes; longer is a sign that something is stuck. */
const clearingMsMax = 15 * 60_000

export async function verifyBooks(
  { terminal, endWith }: CommandContext,
  operator: Operator,
  options: { archive?: string; json?: boolean },
): Promise<void> {
  const { checks, seal } = await checkBooks(operator, options.archive)
  const clearing = await openClearing(operator)
  const ok = checks.every((check) => check.ok)
  printResult(terminal, options.json, { ok, checks, seal, clearing }, () =>
    [
      ...checks.map((check) => `${check.ok ? 'ok ' : 'NO '} ${check.name.padEnd(10)} ${check.detail}`),
      ...clearing.map(
        (item) =>
          `${item.stuck ? 'OLD' : ' - '} clearing   ${item.account} holds ${amountText(item.balance, item.unit)} since ` +
          `${item.since} (${ageText(item.age_ms)}${item.payment_id === null ? '' : `, payment ${item.payment_id}`})`,
      ),
      ...(clearing.length === 0 ? ['ok  clearing   every clearing account is at zero'] : []),
    ].join('\n'),
  )
  if (!ok) endWith(exitCodes.notVerified)
}

async function checkBooks({ node, database }: Operator, archiveFolder: string | undefined) {
  const broken = await node.verifySeals(database, archiveFolder)
  const head = await node.sealHead(database)
  const differences = await node.balanceDifferences(database)
  const holds = await node.heldDifferences(database)
  const audit = await node.verifyAudit(database)
  const { sumByUnit } = await node.trialBalance(database)
  const unbalanced = Object.entries(sumByUnit).filter(([, sum]) => sum !== 0n)
  const checks: Check[] = [
    {
      name: 'seals',
      ok: broken === undefined,
      detail:
        broken === undefined
          ? `unbroken up to ${head?.seq ?? 0}`
          : `seal ${broken.seq}: ${broken.what} (${broken.reference ?? broken.transactionId ?? ''})`,
    },
    {
      name: 'sums',
      ok: unbalanced.length === 0,
      detail:
        unbalanced.length === 0
          ? 'every unit sums to zero'
          : unbalanced.map(([unit, sum]) => `${unit}: ${sum}`).join(', '),
    },
    {
      name: 'balances',
      ok: differences.length === 0,
      detail:
        differences.length === 0
          ? 'kept balances equal their entries'
          : differences.map((one) => `${one.name}: kept ${one.kept}, entries ${one.fromEntries}`).join(', '),
    },
    {
      name: 'holds',
      ok: holds.length === 0,
      detail:
        holds.length === 0
          ? 'what is kept aside equals the calls under way'
          : holds.map((one) => `${one.name}: kept ${one.kept}, holds ${one.holds}`).join(', '),
    },
    {
      name: 'audit',
      ok: audit === undefined,
      detail: audit === undefined ? 'the audit log is unbroken' : `row ${audit.id} does not fit`,
    },
  ]
  return { checks, seal: head === undefined ? null : { seq: head.seq, hash: head.hash.toString('hex') } }
}

async function openClearing({ node, database }: Operator) {
  const nowMs = node.systemClock.nowMs()
  return (await node.openClearing(database)).map((item) => {
    const ageMs = nowMs - item.since.getTime()
    return {
      account: item.name,
      unit: item.unit,
      balance: item.balanceMicro,
      payment_id: item.paymentId,
      since: item.since.toISOString(),
      age_ms: ageMs,
      stuck: ageMs > clearingMsMax,
    }
  })
}
