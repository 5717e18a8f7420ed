import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { fromHex } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql, Tx } from '@assay/till/store/database'
import type { Snapshot } from './snapshots.ts'

/**
 * A page that was fetched for a sale, as its reservation carries it until the commit: any process that finishes the sale
 * can store it, and nothing is stored for a sale that is not paid.
 */
export type ReservedSnapshot = {
  url: string
  finalUrl: string
  canonical: string | null
  httpStatus: number
  title: string
  contentSha256: Hex
  textSha256: Hex
  licence: string | null
  fetchedAt: string
  /** Base64 of the gzipped text. */
  packedText: string
}

const pack = promisify(gzip)
const unpack = promisify(gunzip)

export async function reserveSnapshot(url: string, snapshot: Snapshot): Promise<ReservedSnapshot> {
  return {
    url,
    finalUrl: snapshot.finalUrl,
    canonical: snapshot.canonical,
    httpStatus: snapshot.httpStatus,
    title: snapshot.title,
    contentSha256: toHex(snapshot.contentSha256),
    textSha256: toHex(snapshot.textSha256),
    licence: snapshot.licence,
    fetchedAt: toRfc3339(snapshot.fetchedAt.getTime()),
    packedText: (await pack(snapshot.text)).toString('base64'),
  }
}

/** Whether an earlier sale stored this reading of the page. */
export async function isStored(sql: Sql, url: string, snapshot: Snapshot): Promise<boolean> {
  const { rows } = await sql.query({
    name: 'cited_snapshot_stored',
    text: `select 1 from cited_page c join cited_text t on t.text_sha256 = c.text_sha256
      where c.url = $1 and c.text_sha256 = $2 and c.fetched_at >= $3 and t.attestation is not null`,
    values: [url, snapshot.textSha256, snapshot.fetchedAt],
  })
  return rows.length > 0
}

export type PaidSnapshot = { attestation: string; snapshot: ReservedSnapshot }

/** In the transaction of the sales. What is stored already is neither written nor locked. */
export async function storeSnapshots(tx: Tx, paid: readonly PaidSnapshot[]): Promise<void> {
  if (paid.length === 0) return
  const texts = [...new Map(paid.map((one) => [one.snapshot.textSha256, one])).values()]
  await tx.query(
    `insert into cited_text as c (text_sha256, text, attestation)
     select t.sha256, t.text, t.attestation from unnest($1::bytea[], $2::text[], $3::text[]) t (sha256, text, attestation)
     where not exists (select from cited_text k where k.text_sha256 = t.sha256 and k.attestation is not null)
     order by t.sha256
     on conflict (text_sha256) do update set attestation = coalesce(c.attestation, excluded.attestation)`,
    [
      texts.map(({ snapshot }) => Buffer.from(fromHex(snapshot.textSha256))),
      await Promise.all(texts.map(({ snapshot }) => unpackText(snapshot))),
      texts.map(({ attestation }) => attestation),
    ],
  )
  await storePages(
    tx,
    paid.map(({ snapshot }) => snapshot),
  )
}

async function unpackText({ packedText }: ReservedSnapshot): Promise<string> {
  return (await unpack(Buffer.from(packedText, 'base64'))).toString()
}

async function storePages(tx: Tx, pages: readonly ReservedSnapshot[]): Promise<void> {
  await tx.query(
    `insert into cited_page as c
       (url, final_url, canonical, http_status, title, content_sha256, text_sha256, licence, fetched_at)
     select distinct on (t.url) t.url, t.final_url, t.canonical, t.http_status, t.title, t.content_sha256, t.text_sha256,
       t.licence, t.fetched_at
     from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bytea[], $7::bytea[], $8::text[],
       $9::timestamptz[])
       t (url, final_url, canonical, http_status, title, content_sha256, text_sha256, licence, fetched_at)
     where not exists (select from cited_page k where k.url = t.url and k.fetched_at >= t.fetched_at)
     order by t.url, t.fetched_at desc
     on conflict (url) do update set final_url = excluded.final_url, canonical = excluded.canonical,
       http_status = excluded.http_status, title = excluded.title, content_sha256 = excluded.content_sha256,
       text_sha256 = excluded.text_sha256, licence = excluded.licence, fetched_at = excluded.fetched_at
     where c.fetched_at < excluded.fetched_at`,
    [
      pages.map((page) => page.url),
      pages.map((page) => page.finalUrl),
      pages.map((page) => page.canonical),
      pages.map((page) => page.httpStatus),
      pages.map((page) => page.title),
      pages.map((page) => Buffer.from(fromHex(page.contentSha256))),
      pages.map((page) => Buffer.from(fromHex(page.textSha256))),
      pages.map((page) => page.licence),
      pages.map((page) => page.fetchedAt),
    ],
  )
}

const prunedAtOnce = 500

/** Deletes pages and texts that no attestation uses; returns how many texts. Runs until a batch is not full. */
export async function pruneSnapshots(sql: Sql): Promise<number> {
  for (let pruned = 0; ; ) {
    const { rowCount } = await sql.query(
      `with unused as (
         delete from cited_text where attestation is null and text_sha256 in
           (select text_sha256 from cited_text where attestation is null limit $1)
         returning text_sha256)
       , pages as (delete from cited_page c using unused u where c.text_sha256 = u.text_sha256)
       select text_sha256 from unused`,
      [prunedAtOnce],
    )
    pruned += rowCount
    if (rowCount < prunedAtOnce) return pruned
  }
}
