import { Problem } from '../kernel/problem.ts'
import { segmentsOf } from './path-tree.ts'

/**
 * Writes the path of a resource from its template and the values of its parameters. However a request spelled it
 * (mount path, case, trailing slash, `%2f`), one resource has one URL.
 */
export function resourcePathOf(template: string): (params: Readonly<Record<string, string>>) => string {
  if (!template.includes(':')) return () => template
  const segments = segmentsOf(template)
  return (params) => {
    let path = ''
    for (const segment of segments) path += `/${segment.startsWith(':') ? encoded(params, segment.slice(1)) : segment}`
    return path
  }
}

function encoded(params: Readonly<Record<string, string>>, name: string): string {
  const value = params[name]
  if (value === undefined)
    throw new Error(`the route has no parameter ${name}: declare the same path that the framework routes by`)
  try {
    return encodeURIComponent(value).replaceAll('%3A', ':')
  } catch {
    throw new Problem('not_found')
  }
}
