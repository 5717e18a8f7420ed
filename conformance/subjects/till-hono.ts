import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { sold as onHono } from '../../packages/till/src/adapters/hono.ts'
import { sold } from './open-till.ts'
import { path, port } from './setting.ts'

serve({ fetch: new Hono().get(path, onHono(sold)).fetch, port, hostname: '127.0.0.1' })
