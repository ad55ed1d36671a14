CREATE TYPE control_type AS ENUM ('retain', 'relinquish_to_parent', 'relinquish_to_start');
CREATE TYPE output_visibility AS ENUM ('user_facing', 'internal');

CREATE TABLE agents (
    tenant_id                   uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id                          uuid NOT NULL,
    name                        text NOT NULL,
    version                     integer NOT NULL DEFAULT 1,
    display_name                text,
    avatar_url                  text,
    description                 text,
    system_prompt               text NOT NULL DEFAULT '',
    control_type                control_type NOT NULL DEFAULT 'relinquish_to_parent',
    output_visibility           output_visibility NOT NULL DEFAULT 'user_facing',
    max_calls_per_parent_agent  integer NOT NULL DEFAULT 3 CHECK (max_calls_per_parent_agent BETWEEN 1 AND 100),
    model                       text,
    temperature                 double precision CHECK (temperature BETWEEN 0 AND 2),
    is_active                   boolean NOT NULL DEFAULT true,
    created_at                  timestamptz NOT NULL DEFAULT now(),
    updated_at                  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
);

-- What each published version said. The row of the current version is written with the agent itself.
CREATE TABLE agent_versions (
    tenant_id      uuid NOT NULL,
    agent_id       uuid NOT NULL,
    version        integer NOT NULL,
    system_prompt  text NOT NULL,
    model          text,
    temperature    double precision,
    created_by     uuid,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, agent_id, version),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);

ALTER TABLE agents         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE agent_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agents         TO qadra_app USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY tenant ON agent_versions TO qadra_app USING (tenant_id = (SELECT current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON agents TO qadra_app;
GRANT SELECT, INSERT ON agent_versions TO qadra_app;
