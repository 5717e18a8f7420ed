// npm run vectors: writes payments.json and its schema.
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { inRows } from '../../bench/record.ts'
import { makeVectors, vectorsSchema } from './payments.ts'

const write = (name: string, value: unknown) => writeFileSync(new URL(name, import.meta.url), `${inRows(value)}\n`)

write('payments.schema.json', z.toJSONSchema(vectorsSchema))
write('payments.json', await makeVectors())
