import { join } from 'node:path'
import { parseCheckpoint } from '../../packages/protocol/src/log/checkpoint.ts'
import { verifyConsistency } from '../../packages/protocol/src/log/verify-proof.ts'
import { type CitationAttestation, parseAttestation, verifyAttestation } from '../../packages/sdk/src/index.ts'
import { type LogNode, openRestoredWorld, type RestoredWorld, type StartOptions } from '../harness/restored-node.ts'
import { until } from '../harness/until.ts'
import { createFaults, type Faults, type Proof, plain } from './proof.ts'

const stampsEach = 3

/**
 * A restored database never signs another history: stamps are sold, a backup is taken, more are sold, the backup is
 * restored. Both keys are rotated in the part that is lost. The node must stop, be repaired from a mirror, lose no leaf, and
 * sign with the keys that were in force. `count` is restores, one upon the other. In the end the program is upgraded, and
 * every stamp since the first day must verify offline, as it was saved then and as it is given now.
 */
export const proveRestoreLog: Proof = async ({ count, say }) => {
  const faults = createFaults()
  const world = await openRestoredWorld()
  const sold: CitationAttestation[] = []
  try {
    let db = await world.firstDatabase()
    for (let n = 0; n < count; n += 1) {
      sold.push(...(await (await opened(world, db)).sell(stampsEach)))
      await world.stopAll()
      const backup = await db.copy()
      const lost = await opened(world, db)
      sold.push(...(await lost.sell(stampsEach)))
      const signers = await world.rotate(lost)
      sold.push(...(await lost.sell(1)))
      await world.mirror(db, join(world.folder, `mirror-${n}`))
      await restoreOnce(world, await world.start(backup), join(world.folder, `mirror-${n}`), sold, faults)
      if (`${await world.signers(backup)}` !== `${signers}`)
        faults.note(`keys of before the restore sign again: ${await world.signers(backup)} instead of ${signers}`)
      db = backup
      say(`  ${n + 1} of ${plain(count)} restored, ${plain(sold.length)} stamps checked`)
    }
    await upgradeOnce(world, db, sold, faults)
  } finally {
    await world.close()
  }
  return {
    seen: `${plain(count)} restores: each stopped at its start, was repaired and went on with the keys that were in force; after an upgrade ${plain(sold.length)} stamps verify, as saved then and as given now, and every head extends theirs`,
    faults: faults.all(),
  }
}

/** A witness that must first read the statements about a new key may answer late. */
async function opened(world: RestoredWorld, db: LogNode['db'], options: StartOptions = {}): Promise<LogNode> {
  const started = await world.start(db, options)
  await until('the log is open', async () => (await started.log()).state === 'open')
  return started
}

async function restoreOnce(
  world: RestoredWorld,
  restored: LogNode,
  mirror: string,
  sold: readonly CitationAttestation[],
  faults: Faults,
): Promise<void> {
  const { size, state } = await restored.log()
  if (state !== 'stopped') faults.note(`a restored log of size ${size} was ${state}`)
  const refused = await restored.attest()
  if (refused.status !== 503) faults.note(`a stamp was offered with ${refused.status}`)
  if ((await restored.log()).size !== size) faults.note('a head was signed after the restore')
  const { code, output } = await world.assay(restored.db, 'log', 'repair', '--from', mirror, '--reason', 'a proof')
  if (code !== 0) faults.note(`the repair ended with ${code}: ${output}`)
  await until('the log goes on', async () => (await restored.log()).state === 'open')
  await restored.sell(1)
  for (const file of sold) if (!(await stillHolds(restored, file, world))) faults.note(`${file.id} is lost`)
}

async function upgradeOnce(
  world: RestoredWorld,
  db: LogNode['db'],
  sold: readonly CitationAttestation[],
  faults: Faults,
): Promise<void> {
  const upgraded = await opened(world, db, { upgraded: true })
  const { rowCount } = await db.owner.query(`select from schema_migration where owner = 'attestations' and number = 2`)
  if (rowCount !== 1) faults.note('the upgrade did not change the database')
  await upgraded.sell(1)
  let given = 0
  for (const file of sold) {
    if (!(await stillHolds(upgraded, file, world))) faults.note(`${file.id} is lost after the upgrade`)
    const answer = await fetch(`${upgraded.node.url}/v1/attestations/${file.id}`)
    // Of what was sold after the backup the log has the leaf again, and its buyer the file.
    if (answer.status === 404) continue
    given += 1
    const now = parseAttestation(await answer.json())
    const checks = now && (await verifyAttestation(now, { witnesses: world.witnessKeys })).checks
    const failed = checks?.filter(({ status }) => status === 'failed')
    if (failed?.length !== 0)
      faults.note(`${file.id} as it is given after the upgrade does not verify: ${JSON.stringify(failed)}`)
  }
  if (given < stampsEach) faults.note(`only ${given} stamps of before the restore are given`)
}

async function stillHolds({ node }: LogNode, file: CitationAttestation, world: RestoredWorld): Promise<boolean> {
  const { ok } = await verifyAttestation(file, { witnesses: world.witnessKeys })
  const headIn = (note: string) => parseCheckpoint(note)
  const old = headIn(file.log.checkpoint ?? '')
  const now = headIn(await (await fetch(`${node.url}/v1/log/checkpoint`)).text())
  if (!ok || !old || !now) return false
  const asked = await fetch(`${node.url}/v1/log/consistency?from=${old.size}&to=${now.size}`)
  const { proof = [] } = (await asked.json()) as { proof?: string[] }
  const path = proof.map((hash) => Buffer.from(hash, 'base64'))
  return verifyConsistency(old.size, now.size, path, old.root, now.root)
}
