export const operationsFile: string
export function typeOf(schema: unknown): string
export function operationsSource(openapi: unknown): string
