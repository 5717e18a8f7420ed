import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { makeEvidenceVectors } from '../harness/evidence-vectors.ts'
import { evidenceFolder, renderEvidenceVectors } from '../harness/read-evidence-vectors.ts'

/** Writes test/vectors/evidence again: npx tsx test/vectors/make-evidence.ts */
await mkdir(evidenceFolder, { recursive: true })
for (const name of await readdir(evidenceFolder)) await rm(new URL(name, evidenceFolder))
for (const { name, text } of renderEvidenceVectors(await makeEvidenceVectors()))
  await writeFile(new URL(`${name}.json`, evidenceFolder), text)
