import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../http/index.ts'

export type DocumentRoute = {
  id: string
  path: string
  summary: string
  /** The first is the default; the same bytes are given under each. */
  mediaTypes: readonly string[]
  next?: string
  hidden?: boolean
  headers?: Record<string, string>
  exampleOutput: unknown
  write(): string
}

/** A free document that depends on nothing but its URL. */
export function documentRoute(document: DocumentRoute): RouteDeclaration {
  const { id, path, summary, mediaTypes, headers } = document
  return defineRoute({
    id,
    area: 'core',
    method: 'GET',
    path,
    summary,
    representations: mediaTypes,
    output: typeof document.exampleOutput === 'string' ? z.string() : z.record(z.string(), z.unknown()),
    example: { output: document.exampleOutput },
    next: document.next ?? '/',
    cacheSeconds: 5,
    ...(document.hidden ? { hidden: true } : {}),
    access: {
      kind: 'free',
      handle: async (_input, call) => ({
        status: 200,
        contentType: call.representation,
        body: document.write(),
        ...(headers === undefined ? {} : { headers }),
      }),
    },
  })
}
