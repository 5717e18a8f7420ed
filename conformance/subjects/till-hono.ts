import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { documents, sold as onHono } from '../../packages/till/src/adapters/hono.ts'
import { sold, soldOther, till } from './open-till.ts'
import { otherPath, path, port } from './setting.ts'

const app = new Hono().get(path, onHono(sold)).get(otherPath, onHono(soldOther))
documents(app, till)
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
