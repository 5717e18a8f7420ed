import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { makeEvidenceVectors } from '../harness/evidence-vectors.ts'

/** Writes test/vectors/evidence again: npx tsx test/vectors/make-evidence.ts */
const folder = fileURLToPath(new URL('./evidence/', import.meta.url))
await mkdir(folder, { recursive: true })
for (const name of await readdir(folder)) await rm(`${folder}${name}`)
for (const vector of await makeEvidenceVectors())
  await writeFile(`${folder}${vector.name}.json`, `${JSON.stringify(vector, null, 2)}\n`)
