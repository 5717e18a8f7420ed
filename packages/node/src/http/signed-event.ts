import { joinEvent } from '@assay/protocol/event-text'
import type { JwsPort } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'

export type EventAttributes = { id: string; source: string; type: string; subject: string; time: string }

/** A CloudEvent 1.0 in JSON that carries its own signature: a JWS over its attributes, which name the digest of `data`. */
export function signedEvent(jws: Pick<JwsPort, 'sign'>, given: EventAttributes, data: string): string {
  const attributes = {
    specversion: '1.0',
    ...given,
    datacontenttype: 'application/json',
    datasha256: sha256(data).toString('hex'),
  }
  return joinEvent({ ...attributes, signature: jws.sign(attributes) }, data)
}

/** One server-sent event. An id of null leaves the reader's place where it was. */
export function eventText(id: string | null, event: string, json: string): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`
}
