import { segmentsOf } from './path-tree.ts'
import type { PaidAccess, RouteDeclaration } from './route.ts'
import { checkSchema, type Schema } from './schema.ts'

const pathPattern = /^\/(?:(?:[A-Za-z0-9._~-]+|:[a-z][a-z0-9_]*)(?:\/(?:[A-Za-z0-9._~-]+|:[a-z][a-z0-9_]*))*)?$/
const idPattern = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*$/

/** Everything wrong with a set of declarations but their examples, so that one start reports all of it. */
export function findDeclarationFaults(routes: readonly RouteDeclaration[]): string[] {
  return [...findClashes(routes), ...routes.flatMap(findOwnFaults)]
}

function findClashes(routes: readonly RouteDeclaration[]): string[] {
  const faults: string[] = []
  const ids = new Set<string>()
  const places = new Map<string, string>()
  const patterns = new Map<string, string>()
  for (const route of routes) {
    if (ids.has(route.id)) faults.push(`${route.id}: the id is used twice`)
    ids.add(route.id)
    const shape = shapeOf(route.path)
    const place = `${route.method} ${shape}`
    const other = places.get(place)
    if (other !== undefined) faults.push(`${route.id}: ${route.method} ${route.path} is already taken by ${other}`)
    places.set(place, route.id)
    const pattern = patterns.get(shape)
    if (pattern !== undefined && pattern !== route.path)
      faults.push(`${route.id}: ${route.path} names its parameters differently from ${pattern}`)
    patterns.set(shape, route.path)
  }
  return faults
}

const shapeOf = (path: string) => path.replace(/:[^/]+/g, ':')

function findOwnFaults(route: RouteDeclaration): string[] {
  const faults: string[] = []
  const say = (fault: string) => faults.push(`${route.id}: ${fault}`)
  if (!idPattern.test(route.id)) say('the id must be dotted lower-case words')
  if (!pathPattern.test(route.path)) say(`the path ${route.path} is not exact segments and :parameters`)
  if (route.summary.length > 120) say('the summary is longer than 120 characters')
  if ((route.description?.length ?? 0) > 450) say('the description is longer than 450 characters')
  if (route.method === 'GET' && route.body) say('a GET route takes no body')
  if (route.access.kind === 'paid') for (const fault of findPriceFaults(route, route.access)) say(fault)
  if (paramNames(route.path).length > 0 && !route.params) say('a path with parameters needs a params schema')
  return faults
}

function findPriceFaults({ representations }: RouteDeclaration, { price, networks }: PaidAccess): string[] {
  const faults: string[] = []
  const lowest = price.kind === 'fixed' ? price.micro : price.lowestMicro
  if (lowest <= 0n) faults.push('the price must be above zero')
  if (price.kind === 'from_input' && price.highestMicro < price.lowestMicro)
    faults.push('the highest price is below the lowest')
  // With a maximum that is settled at the end, the stream would be given first.
  const metered = price.kind === 'fixed' && (price.metered || price.more?.metered)
  if (metered && representations?.includes('text/event-stream'))
    faults.push('a stream is paid for before each period: its price cannot be metered')
  if (networks.length === 0) faults.push('a paid route needs at least one network')
  if (new Set(networks).size !== networks.length) faults.push('a network is named twice')
  return faults
}

/** What the example of a route lacks; every schema is made ready to parse for it. */
export function findExampleFaults(route: RouteDeclaration): string[] {
  const { example } = route
  if (example === undefined) return []
  const faults: string[] = []
  const parts: [string, Schema | undefined, unknown][] = [
    ['params', route.params, example.params ?? {}],
    ['query', route.query, example.query ?? {}],
    ['body', route.body, example.body],
    ['output', example.output === undefined ? undefined : route.output, example.output],
  ]
  for (const [part, schema, value] of parts) {
    const checked = schema && checkSchema(schema, value)
    // A schema that answers later is left to the first request.
    if (checked && 'issues' in checked)
      faults.push(
        `${route.id}: the example ${part} does not satisfy its schema: ${checked.issues.map((issue) => issue.message).join(', ')}`,
      )
  }
  return faults
}

export const paramNames = (path: string) =>
  segmentsOf(path)
    .filter((segment) => segment.startsWith(':'))
    .map((segment) => segment.slice(1))
