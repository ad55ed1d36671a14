-- Roles. None can log in, own a table or bypass row-level security; a transaction takes one with SET LOCAL ROLE.
--   qadra_app     tenant work: sees the rows of the tenant named by the setting qadra.tenant_id, and no others
--   qadra_auth    sign-in: finds users, memberships, keys and refresh tokens before a tenant is known
--   qadra_system  housekeeping across tenants: finds turns whose process has died
--   qadra_search  owns the full-text function, whose own WHERE clause confines it to the tenant (see 0003)
DO $$
DECLARE r text;
BEGIN
    FOREACH r IN ARRAY ARRAY['qadra_app', 'qadra_auth', 'qadra_system', 'qadra_search'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', r);
        -- Roles belong to the cluster: another database, or another process in this moment, may have made it.
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        -- From version 16 on, who makes a role is a member that can neither take it nor inherits from it.
        IF current_setting('server_version_num')::int >= 160000 THEN
            EXECUTE format('GRANT %I TO %I WITH INHERIT FALSE, SET TRUE', r, current_user);
        ELSIF NOT pg_has_role(current_user, r, 'MEMBER') THEN
            EXECUTE format('GRANT %I TO %I', r, current_user);
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', r);
    END LOOP;
END $$;

-- A custom setting reads '' rather than NULL once a transaction that set it has ended.
CREATE FUNCTION current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('qadra.tenant_id', true), '')::uuid $$;

-- True for a session that has taken this very role. A policy for a role holds for the role's members too, and
-- whoever owns the tables must be a member to be able to take it; so a policy that lets everything through says
-- USING (acting_as('…')) and not USING (true). A login role that inherits nothing is no way out: before version 16
-- it would lose its right to create in the schema with it. Declared immutable so that it is settled when a statement
-- is planned: a plan under row-level security is made for one role and never used for another.
CREATE FUNCTION acting_as(role name) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT current_user = role $$;

CREATE TABLE tenants (
    id          uuid PRIMARY KEY,
    name        text NOT NULL,
    slug        text NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
    id              uuid PRIMARY KEY,
    tenant_id       uuid NOT NULL REFERENCES tenants (id),   -- where the account was made
    email           text NOT NULL UNIQUE CHECK (email = lower(email)),
    email_verified  boolean NOT NULL DEFAULT false,
    password_hash   text NOT NULL,
    name            text NOT NULL,
    avatar_url      text,
    is_super_admin  boolean NOT NULL DEFAULT false,
    settings        jsonb NOT NULL DEFAULT '{}',
    last_login_at   timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE user_tenants (
    tenant_id   uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    user_id     uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role        text NOT NULL DEFAULT 'user' CHECK (role IN ('owner', 'admin', 'user')),
    is_default  boolean NOT NULL DEFAULT false,
    joined_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX user_tenants_user ON user_tenants (user_id);
CREATE UNIQUE INDEX user_tenants_one_default ON user_tenants (user_id) WHERE is_default;

CREATE TABLE refresh_tokens (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL,
    user_id     uuid NOT NULL,
    family_id   uuid NOT NULL,            -- one sign-in; reuse of any member ends all of it
    token_hash  bytea NOT NULL UNIQUE,    -- SHA-256 of 32 random bytes: no salt or stretching needed
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    used_at     timestamptz,
    revoked_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES user_tenants (tenant_id, user_id) ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_family ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

CREATE TABLE api_keys (
    tenant_id     uuid NOT NULL,
    id            uuid NOT NULL,
    user_id       uuid NOT NULL,
    name          text NOT NULL,
    prefix        text NOT NULL,
    key_hash      bytea NOT NULL UNIQUE,
    scopes        text[] NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz,
    last_used_at  timestamptz,
    revoked_at    timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES user_tenants (tenant_id, user_id) ON DELETE CASCADE
);

CREATE TABLE audit_log (
    tenant_id    uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id           uuid NOT NULL,
    actor_id     uuid NOT NULL,
    action       text NOT NULL,
    object_type  text NOT NULL,
    object_id    uuid,
    detail       jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);

ALTER TABLE tenants        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE users          ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE user_tenants   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE refresh_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys       ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_log      ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON tenants      TO qadra_app USING (id = (SELECT current_tenant()));
CREATE POLICY tenant ON user_tenants TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON api_keys     TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON audit_log    TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON users        TO qadra_app USING (EXISTS (
    SELECT 1 FROM user_tenants m WHERE m.user_id = users.id AND m.tenant_id = (SELECT current_tenant())));

CREATE POLICY sign_in ON tenants        TO qadra_auth USING (acting_as('qadra_auth'));
CREATE POLICY sign_in ON users          TO qadra_auth USING (acting_as('qadra_auth'));
CREATE POLICY sign_in ON user_tenants   TO qadra_auth USING (acting_as('qadra_auth'));
CREATE POLICY sign_in ON refresh_tokens TO qadra_auth USING (acting_as('qadra_auth'));
CREATE POLICY sign_in ON api_keys       TO qadra_auth USING (acting_as('qadra_auth'));

GRANT SELECT, UPDATE (name, updated_at) ON tenants TO qadra_app;
GRANT SELECT (id, tenant_id, email, email_verified, name, avatar_url, is_super_admin, settings, last_login_at, created_at, updated_at)
    ON users TO qadra_app;
GRANT SELECT ON user_tenants TO qadra_app;
-- Hashes go in and never come out of tenant work.
GRANT SELECT (tenant_id, id, user_id, name, prefix, scopes, created_at, expires_at, last_used_at, revoked_at),
      INSERT, UPDATE (revoked_at) ON api_keys TO qadra_app;
GRANT SELECT, INSERT ON audit_log TO qadra_app;

GRANT SELECT, INSERT ON tenants TO qadra_auth;
GRANT SELECT, INSERT, UPDATE (last_login_at, password_hash) ON users TO qadra_auth;
GRANT SELECT, INSERT ON user_tenants TO qadra_auth;
GRANT SELECT, INSERT, UPDATE, DELETE ON refresh_tokens TO qadra_auth;
GRANT SELECT, UPDATE (last_used_at) ON api_keys TO qadra_auth;
