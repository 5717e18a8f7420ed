import type { Json } from '@assay/protocol/canonical-json'
import { z } from 'zod'

export type JsonSchema = { [key: string]: Json | undefined }

/** JSON Schema 2020-12 of what a caller sends or receives. */
export function jsonSchemaOf(schema: z.ZodType, direction: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any' }) as JsonSchema
  return rest
}

export type SchemaField = { name: string; required: boolean; schema: JsonSchema }

/** The fields of an object schema, for places that list them one by one. */
export function fieldsOf(schema: z.ZodType | undefined): SchemaField[] {
  if (!schema) return []
  const json = jsonSchemaOf(schema, 'input')
  const required = new Set((json.required ?? []) as string[])
  return Object.entries((json.properties ?? {}) as Record<string, JsonSchema>).map(([name, field]) => ({
    name,
    required: required.has(name),
    schema: field,
  }))
}
