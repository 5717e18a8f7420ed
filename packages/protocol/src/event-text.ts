import { parseJsonObject } from './json-object.ts'

const mark = ',"data":'

/** A CloudEvent in JSON with `data` last and unchanged, so that a reader can check its digest without writing JSON again. */
export const joinEvent = (attributes: object, data: string): string =>
  `${JSON.stringify(attributes).slice(0, -1)}${mark}${data}}`

/** All of an event but its data, and the text of its data; undefined for anything else. */
export function splitEvent(text: string): { attributes: Record<string, unknown>; data: string } | undefined {
  const at = text.indexOf(mark)
  const attributes = at > 0 && text.endsWith('}') ? parseJsonObject(`${text.slice(0, at)}}`) : undefined
  return attributes && { attributes, data: text.slice(at + mark.length, -1) }
}
