// npm run vectors: writes payments.json and its schema.
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { makeVectors, vectorsSchema } from './payments.ts'

const write = (name: string, value: unknown) =>
  writeFileSync(new URL(name, import.meta.url), `${JSON.stringify(value, null, 2)}\n`)

write('payments.schema.json', z.toJSONSchema(vectorsSchema))
write('payments.json', await makeVectors())
