import type { Json } from '@assay/protocol/canonical-json'
import { z } from 'zod'
import type { Schema } from '../selling/schema.ts'

export type JsonSchema = { [key: string]: Json | undefined }

/** JSON Schema 2020-12 of what a caller sends or receives; empty where the library of the schema cannot say. */
export function jsonSchemaOf(schema: Schema, direction: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = convert(schema, direction)
  return rest
}

type Converter = (options: { target: 'draft-2020-12' }) => JsonSchema
type Convertible = { jsonSchema?: { input: Converter; output: Converter } }

function convert(schema: Schema, direction: 'input' | 'output'): JsonSchema {
  if ('_zod' in schema)
    return z.toJSONSchema(schema as unknown as z.ZodType, { io: direction, unrepresentable: 'any' }) as JsonSchema
  const { jsonSchema } = schema['~standard'] as Convertible
  try {
    return jsonSchema?.[direction]({ target: 'draft-2020-12' }) ?? {}
  } catch {
    return {}
  }
}

export type SchemaField = { name: string; required: boolean; schema: JsonSchema }

/** The fields of an object schema, for places that list them one by one. */
export function fieldsOf(schema: Schema | undefined): SchemaField[] {
  if (!schema) return []
  const json = jsonSchemaOf(schema, 'input')
  const required = new Set((json.required ?? []) as string[])
  return Object.entries((json.properties ?? {}) as Record<string, JsonSchema>).map(([name, field]) => ({
    name,
    required: required.has(name),
    schema: field,
  }))
}
