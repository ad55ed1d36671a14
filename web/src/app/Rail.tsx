import { useQuery } from "@tanstack/react-query";
import {
  ChevronsUpDown,
  Command,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  PanelLeftClose,
  PanelLeftOpen,
  Sun,
  User,
} from "lucide-react";
import { useState } from "react";
import { NavLink, useNavigate } from "react-router";
import { api } from "../api/client";
import type { Id } from "../api/types";
import { t } from "../lib/strings";
import { useMedia } from "../lib/useMedia";
import { IconButton } from "../ui/Button";
import { Avatar } from "../ui/bits";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../ui/Menu";
import { toast, toastError } from "../ui/Toast";
import { Tip } from "../ui/Tooltip";
import { keys } from "./query";
import { rooms } from "./rooms";
import { modKey } from "./shortcuts";
import { setTheme, useTheme } from "./theme";
import { signOut, switchTenant, useSession } from "./useSession";

const KEY = "qadra.rail";

export function Rail({ onPalette, onKeys }: { onPalette: () => void; onKeys: () => void }) {
  const wide = useMedia("(min-width: 1200px)");
  const [choice, setChoice] = useState(() => localStorage.getItem(KEY));
  const small = choice === null ? !wide : choice === "small" || !wide;
  const toggle = () => {
    const next = small ? "wide" : "small";
    localStorage.setItem(KEY, next);
    setChoice(next);
  };
  return (
    <nav className="rail" data-small={small} aria-label={t.nav.label}>
      <div className="not-narrow">
        <TenantMenu />
      </div>
      <ul className="rail-rooms">
        {rooms.map((room) => (
          <li key={room.path}>
            <MaybeTip show={small} text={room.label}>
              <NavLink to={room.path} className="rail-item" aria-label={room.label}>
                {room.icon}
                <span className="rail-text truncate">{room.label}</span>
              </NavLink>
            </MaybeTip>
          </li>
        ))}
      </ul>
      <div className="rail-space" />
      <div className="not-narrow">
        <MaybeTip show={small} text={`${t.nav.palette} (${modKey} K)`}>
          <button type="button" className="rail-item" onClick={onPalette} aria-label={t.nav.palette}>
            <Command size={18} aria-hidden />
            <span className="rail-text truncate">{t.common.search}</span>
            <span className="rail-text rail-keys small" data-keys={`${modKey} K`} aria-hidden />
          </button>
        </MaybeTip>
        {wide ? (
          <IconButton
            className="rail-toggle"
            label={small ? t.nav.expand : t.nav.collapse}
            icon={small ? <PanelLeftOpen size={18} /> : <PanelLeftClose size={18} />}
            onClick={toggle}
          />
        ) : null}
      </div>
      <PersonMenu onKeys={onKeys} onPalette={onPalette} />
    </nav>
  );
}

function MaybeTip({ show, text, children }: { show: boolean; text: string; children: React.ReactElement }) {
  return show ? <Tip text={text}>{children}</Tip> : children;
}

export function useTenantSwitch() {
  const navigate = useNavigate();
  return async (id: Id, name: string) => {
    try {
      await switchTenant(id);
      navigate("/conversations");
      toast({ text: t.settings.switched(name) });
    } catch (error) {
      toastError(t.settings.switch.toLowerCase(), error);
    }
  };
}

function TenantMenu() {
  const { tenant } = useSession();
  const me = useQuery({ queryKey: keys.me, queryFn: api.auth.me });
  const change = useTenantSwitch();
  const name = tenant?.name ?? "";
  return (
    <Menu
      align="start"
      label={t.nav.team}
      trigger={
        <button type="button" className="rail-item person" aria-label={`${t.nav.team}: ${name}`}>
          <Avatar name={name} shape="square" />
          <span className="rail-text truncate grow">{name}</span>
          <ChevronsUpDown size={14} className="rail-text" aria-hidden />
        </button>
      }
    >
      <MenuLabel>{t.settings.teams}</MenuLabel>
      {(me.data?.tenants ?? []).map((one) => (
        <MenuItem
          key={one.id}
          icon={<Avatar name={one.name} shape="square" size={20} />}
          checked={one.id === tenant?.id}
          onSelect={() => {
            if (one.id !== tenant?.id) void change(one.id, one.name);
          }}
        >
          {one.name}
        </MenuItem>
      ))}
    </Menu>
  );
}

function PersonMenu({ onKeys, onPalette }: { onKeys: () => void; onPalette: () => void }) {
  const { user } = useSession();
  const theme = useTheme();
  const navigate = useNavigate();
  const name = user?.name ?? user?.email ?? "";
  return (
    <Menu
      align="start"
      side="top"
      label={t.nav.person}
      trigger={
        <button type="button" className="rail-item person" aria-label={`${t.nav.person}: ${name}`}>
          <Avatar name={name} />
          <span className="rail-text truncate grow">{name}</span>
        </button>
      }
    >
      <MenuLabel>{user?.email}</MenuLabel>
      <MenuItem icon={<User size={16} />} onSelect={() => navigate("/settings/profile")}>
        {t.settings.profile}
      </MenuItem>
      <MenuItem icon={<Command size={16} />} end={`${modKey} K`} onSelect={() => setTimeout(onPalette)}>
        {t.nav.palette}
      </MenuItem>
      <MenuItem icon={<Keyboard size={16} />} end="?" onSelect={() => setTimeout(onKeys)}>
        {t.nav.keys}
      </MenuItem>
      <MenuLine />
      <MenuLabel>{t.nav.theme}</MenuLabel>
      <MenuItem
        icon={<Monitor size={16} />}
        checked={theme.choice === "system"}
        onSelect={() => setTheme("system")}
      >
        {t.nav.system}
      </MenuItem>
      <MenuItem
        icon={<Sun size={16} />}
        checked={theme.choice === "light"}
        onSelect={() => setTheme("light")}
      >
        {t.nav.light}
      </MenuItem>
      <MenuItem icon={<Moon size={16} />} checked={theme.choice === "dark"} onSelect={() => setTheme("dark")}>
        {t.nav.dark}
      </MenuItem>
      <MenuLine />
      <MenuItem icon={<LogOut size={16} />} onSelect={() => void signOut()}>
        {t.nav.signOut}
      </MenuItem>
    </Menu>
  );
}
