import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'
import type { Operator } from './connect.ts'
import type { RepairOptions } from './log.ts'

export async function showLog({ terminal }: CommandContext, operator: Operator, json?: boolean): Promise<void> {
  const { node, database } = operator
  const tree = await node.readTree(database)
  const newest = await node.newestCheckpoint(database)
  const stopped = node.reasonNotToSign(tree, tree.origin ?? '')
  const heads = (await node.readOutsideHeads(database)).map(({ source, size, agrees, reason }) => ({
    source,
    size,
    agrees,
    reason,
  }))
  const document = {
    origin: tree.origin,
    state: stopped ? 'stopped' : 'open',
    ...(stopped ?? {}),
    size: tree.size,
    signed_at: newest?.signedAt.toISOString() ?? null,
    outside: heads,
  }
  printResult(terminal, json, document, () =>
    [
      `${tree.origin ?? 'this log was never opened'}  size ${tree.size}`,
      stopped ? `STOPPED (${stopped.reason}): ${stopped.detail}` : 'open',
      ...heads.map(({ source, size, agrees }) => `${agrees ? 'agrees     ' : 'CONTRADICTS'}  ${source}, size ${size}`),
    ].join('\n'),
  )
}

export async function repairLog(context: CommandContext, operator: Operator, options: RepairOptions): Promise<void> {
  requireReason(options)
  const { node } = operator
  try {
    await (options.newOrigin === undefined
      ? bringBack(context, operator, options)
      : beginAgain(context, operator, options.newOrigin, options))
  } catch (cause) {
    if (!(cause instanceof node.RepairImpossible)) throw cause
    throw new CliError(exitCodes.failed, 'log_not_repaired', `nothing was changed: ${cause.message}`, { cause })
  }
}

async function bringBack(context: CommandContext, operator: Operator, options: RepairOptions): Promise<void> {
  const { node, database, config, actor } = operator
  const { origin } = await node.readTree(database)
  const configured = node.parseLogSettings(config.values['TLOG'], config.mode === 'demo').witnesses
  const evidence = (await Promise.all(options.evidence.map(node.readEvidence))).flat()
  const plan = await node.planRepair(database, {
    copies: options.from.map(node.openLogCopy),
    evidence,
    keys: {
      log: await node.readLogKeys(database, origin ?? ''),
      witnesses: await node.readWitnessKeys(
        database,
        configured.map(({ key }) => key),
      ),
    },
  })
  if (!plan) {
    printResult(context.terminal, options.json, { repaired: false }, () => 'Every leaf is in its place already.')
    return
  }
  const by = { actor, reason: options.reason, nowMs: node.systemClock.nowMs(), operators: operatorsOf(operator) }
  const done = await asOwner(operator, (owner) => node.rewriteLog(owner, plan, node.logEntryTypes, by))
  printResult(context.terminal, options.json, { repaired: true, from: plan.from, ...done }, () =>
    [
      `${done.restored} leaves are back in their places from ${plan.from} on; the log has ${done.size}.`,
      `${done.moved} entries written since get new places behind them.`,
      ...(done.keyStatements === 0
        ? []
        : [
            `${done.keyStatements} statements about keys are in force again; \`assay keys list\` shows which key signs.`,
          ]),
      'A running node asks its witnesses within half a minute and goes on by itself; without any, use `assay log resume`.',
    ].join('\n'),
  )
}

async function beginAgain(
  { terminal }: CommandContext,
  operator: Operator,
  origin: string,
  { reason, json }: RepairOptions,
): Promise<void> {
  const { node, actor } = operator
  const nowIso = new Date(node.systemClock.nowMs()).toISOString()
  const { predecessor } = await asOwner(operator, (owner) =>
    node.startNewOrigin(owner, origin, { actor, reason, nowIso }),
  )
  printResult(terminal, json, { origin, predecessor }, () =>
    [
      `The log is ${origin} now. Its first entry names ${predecessor} and the heads it had.`,
      'Restart every process of the node, and give the witnesses the key under the new name (GET /v1/log).',
    ].join('\n'),
  )
}

export async function resume(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  options: { reason: string; json?: boolean },
): Promise<void> {
  requireReason(options)
  const done = await node.resumeLog(database, { actor, reason: options.reason })
  printResult(terminal, options.json, done, () =>
    done.resumed ? 'The log signs again.' : 'The log does not wait for an answer after a restore; nothing changed.',
  )
}

/** Wallets that may name and revoke keys of this node, beside those that its own keys named. */
function operatorsOf({ node, config }: Operator): string[] {
  const named = (config.values['OPERATORS'] as readonly string[] | undefined) ?? []
  const demo = config.mode === 'demo' ? [node.demoAccount('operator').address] : []
  // Keys are for those who may do everything.
  const full = named.flatMap((text) => /^(0x[0-9a-fA-F]{40})(?::withdraw)?$/.exec(text)?.[1] ?? [])
  return [config.payTo, ...full, ...demo].map((address) => address.toLowerCase())
}

function requireReason({ reason }: { reason: string }): void {
  if (reason.trim() === '') throw usageError('--reason must say something')
}

/** The node itself may not move leaves; the owner of the tables may. */
async function asOwner<T>(
  { node, databaseUrl }: Operator,
  work: (owner: Operator['database']) => Promise<T>,
): Promise<T> {
  const { systemClock: clock, systemRng: rng, silentLog: log } = node
  const owner = node.createDatabase({
    target: { url: databaseUrl },
    poolSize: 1,
    statementTimeoutMs: 3_600_000,
    clock,
    rng,
    log,
  })
  try {
    return await work(owner)
  } finally {
    await owner.close()
  }
}
