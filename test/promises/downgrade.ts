import { type CitationAttestation, type Evidence, parseEvidence, verifyEvidence } from '../../packages/sdk/src/index.ts'
import { strippedVectors } from '../harness/evidence-vectors.ts'
import { attest, introduction, rotation, start } from '../harness/evidence-world.ts'
import { createFaults, type Proof } from './proof.ts'

/** A file that lost a part of its proof never passes the default policy; `count` is files, each stripped in every way. */
export const proveDowngrade: Proof = async ({ count }) => {
  const faults = createFaults()
  const statements = [await introduction(), await rotation('log', 0, start + 86_400, { treeSize: 1 })]
  let [tried, sound] = [0, 0]
  for (let n = 0; n < count; n += 1) {
    const file = attest({
      id: `att_${String(n).padStart(26, '0')}`,
      responseKey: 0,
      logKeys: [n % 2 === 0 ? 0 : 1],
      attestedAt: start + (n % 2 === 0 ? 60 : 2 * 86_400) + n,
      witnessedAt: start + (n % 2 === 0 ? 61 : 2 * 86_400 + 1) + n,
      statements,
      before: n % 7,
      after: n % 5,
    })
    if (await passes(file)) sound += 1
    else faults.note(`${file.id} does not verify as it is`)
    for (const stripped of strippedOf(file)) {
      tried += 1
      if (await passes(stripped.file)) faults.note(`${file.id} passes: ${stripped.about}`)
    }
  }
  return {
    seen: `${sound} sound files verify; of ${tried} that lost log, witnesses, statements or keys ${faults.count()} passed`,
    faults: faults.all(),
  }
}

const passes = async (file: unknown) => {
  const evidence = parseEvidence(JSON.parse(JSON.stringify(file)))
  return evidence !== undefined && (await verifyEvidence(evidence)).ok
}

/** Those of the vectors, and each member of the log and of the attestation removed by itself. */
function strippedOf(file: CitationAttestation): { about: string; file: unknown }[] {
  const within: Evidence = {
    format: 'assay-evidence',
    version: 2,
    saved_at: new Date(start * 1000).toISOString(),
    request: null,
    response: null,
    keys: { origin: file.record.node, directory: null },
    payment: null,
    receipt: null,
    attestation: file,
  }
  const without = (part: 'log' | 'attestation') =>
    Object.keys(file[part]).map((name) => ({
      about: `without ${part}.${name}`,
      file: { ...file, [part]: Object.fromEntries(Object.entries(file[part]).filter(([other]) => other !== name)) },
    }))
  return [...strippedVectors(file, within), ...without('log'), ...without('attestation')]
}
